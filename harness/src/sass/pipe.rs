//! Which pipe executes an instruction.
//!
//! On Turing to Hopper as measured: LOP3, IADD3, LEA, SHF, PRMT and ISETP run on the ALU, IMAD and its relatives on the
//! FMA pipe, VIADD too where it exists. For newer architectures the same table is a prediction until a `pipes` record
//! says otherwise. Whatever is neither takes an issue slot all the same, so it counts in the total.

use serde::Serialize;

use crate::toolchain::Arch;

/// A group of execution units with its own issue rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Pipe {
    /// Logic, shifts, three-input adds, comparisons.
    Alu,
    /// Multiply and add.
    Fma,
    /// Memory, control, uniform, conversion and the rest.
    Other,
}

/// The pipe of an opcode on `arch`.
pub fn pipe_of(arch: Arch, opcode: &str) -> Pipe {
    match opcode.split('.').next().unwrap_or(opcode) {
        "IMAD" | "IMUL" | "FFMA" | "FMUL" | "FADD" => Pipe::Fma,
        // Half-precision adds and multiplies have the FMA pipe from GA10x on; the compiler uses them to load constants.
        "HFMA2" | "HADD2" | "HMUL2" if arch >= Arch::number(86) => Pipe::Fma,
        // Only sm_90 and newer have it; there it leaves the ALU alone.
        "VIADD" => Pipe::Fma,
        "LOP3" | "PLOP3" | "LOP" | "IADD3" | "IADD" | "LEA" | "SHF" | "SHL" | "SHR" | "PRMT" | "ISETP"
        | "ICMP" | "SEL" | "IMNMX" | "VIMNMX" | "VIMNMX3" | "VIADDMNMX" | "IABS" | "MOV" | "BMSK"
        | "SGXT" | "FSETP" | "FSEL" | "FMNMX" | "P2R" | "R2P" | "VABSDIFF" | "VABSDIFF4" | "SCC" => Pipe::Alu,
        _ => Pipe::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_instructions_of_a_hash_are_where_they_were_measured() {
        let arch = Arch::number(90);
        for opcode in [
            "LOP3.LUT",
            "IADD3",
            "LEA.HI",
            "SHF.L.W.U32.HI",
            "ISETP.NE.AND",
            "PRMT",
        ] {
            assert_eq!(pipe_of(arch, opcode), Pipe::Alu, "{opcode}");
        }
        for opcode in ["IMAD", "IMAD.IADD", "IMAD.MOV.U32", "IMAD.WIDE.U32", "VIADD"] {
            assert_eq!(pipe_of(arch, opcode), Pipe::Fma, "{opcode}");
        }
        for opcode in ["BRA", "ULDC.64", "UIADD3", "BSSY", "NOP", "S2R", "POPC"] {
            assert_eq!(pipe_of(arch, opcode), Pipe::Other, "{opcode}");
        }
    }
}
