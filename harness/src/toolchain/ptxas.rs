//! What the assembler says of a kernel when it is asked with `--ptxas-options=-v`.

use serde::{Deserialize, Serialize};

/// Resources of one kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Resources {
    /// Registers a thread.
    pub registers: u32,
    /// Bytes of spill stores and spill loads together.
    pub spills: u32,
}

impl Resources {
    /// Read those of `entry` from a compilation's log; `None` when the log does not speak of it.
    pub fn of_entry(log: &str, entry: &str) -> Option<Resources> {
        let start = log.find(&format!("Compiling entry function '{entry}'"))?;
        let own = &log[start..];
        // The next kernel's lines begin with the same words.
        let own = own[1..]
            .find("Compiling entry function")
            .map_or(own, |end| &own[..=end]);
        let registers = number_before(own, " registers")?;
        let stores = number_before(own, " bytes spill stores").unwrap_or(0);
        let loads = number_before(own, " bytes spill loads").unwrap_or(0);
        Some(Resources {
            registers,
            spills: stores + loads,
        })
    }
}

fn number_before(text: &str, words: &str) -> Option<u32> {
    let head = &text[..text.find(words)?];
    let digits = head.len() - head.bytes().rev().take_while(u8::is_ascii_digit).count();
    head[digits..].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::Resources;

    const LOG: &str = "ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'first' for 'sm_90'
ptxas info    : Function properties for first
    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 40 registers, used 0 barriers
ptxas info    : Compiling entry function 'second' for 'sm_90'
ptxas info    : Function properties for second
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 255 registers, used 0 barriers
";

    #[test]
    fn each_kernel_gets_its_own_numbers() {
        assert_eq!(
            Resources::of_entry(LOG, "first"),
            Some(Resources {
                registers: 40,
                spills: 20
            })
        );
        assert_eq!(
            Resources::of_entry(LOG, "second"),
            Some(Resources {
                registers: 255,
                spills: 0
            })
        );
        assert_eq!(Resources::of_entry(LOG, "third"), None);
        assert_eq!(Resources::of_entry("", "first"), None);
    }
}
