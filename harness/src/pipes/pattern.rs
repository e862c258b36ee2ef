//! What is measured.

/// A loop of chains, each step of which is to become exactly the instructions that it claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pattern {
    /// Its name: the claimed instructions.
    pub name: &'static str,
    /// Instructions of a step, by kind (see `kind_of`), with how many a step has.
    pub claims: &'static [(&'static str, u32)],
    /// How a step is written.
    pub(super) steps: &'static [Step],
}

/// CUDA text of one instruction on chain `x` (`y`, `w`), with its neighbour `X` (`Y`, `W`), run-time operands `a` and
/// `b`, and a number `#` that differs from step to step. Chains read their neighbours so that no two steps of one
/// chain can be merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Lop3,
    Iadd3,
    LeaHi,
    Shf,
    Prmt,
    Isetp,
    AddNumber,
    AddNumberIf,
    AddNeighbour,
    Imad,
    ImadOther,
    ImadHi,
    ImadWide,
}

impl Step {
    pub(super) fn text(self) -> &'static str {
        match self {
            Step::Lop3 => r#"asm volatile("lop3.b32 %0,%0,%1,%2,0x96;":"+r"(x):"r"(X),"r"(a));"#,
            Step::Iadd3 => {
                r#"asm volatile("{.reg .u32 t;add.u32 t,%0,%1;add.u32 %0,t,%2;}":"+r"(x):"r"(X),"r"(a));"#
            }
            Step::LeaHi => "x = X + __funnelshift_l(x, x, 7);",
            Step::Shf => r#"asm volatile("shf.l.wrap.b32 %0,%0,%1,7;":"+r"(x):"r"(X));"#,
            Step::Prmt => r#"asm volatile("prmt.b32 %0,%0,%1,0x3614;":"+r"(x):"r"(X));"#,
            // Predicates cannot leave an asm statement: the kernel writes the whole loop as one.
            Step::Isetp | Step::AddNumberIf => "",
            Step::AddNumber => r#"asm volatile("add.u32 %0,%0,#;":"+r"(x));"#,
            Step::AddNeighbour => r#"asm volatile("add.u32 %0,%0,%1;":"+r"(x):"r"(X));"#,
            Step::Imad => r#"asm volatile("mad.lo.u32 %0,%0,%1,%2;":"+r"(x):"r"(b),"r"(X));"#,
            Step::ImadOther => r#"asm volatile("mad.lo.u32 %0,%0,%1,%2;":"+r"(y):"r"(b),"r"(Y));"#,
            Step::ImadHi => r#"asm volatile("mul.hi.u32 %0,%0,%1;":"+r"(y):"r"(Y));"#,
            Step::ImadWide => {
                r#"asm volatile("{.reg .u32 l,h;mov.b64 {l,h},%0;mul.wide.u32 %0,l,h;}":"+l"(w));"#
            }
        }
    }
}

macro_rules! patterns {
    ($($name:literal: [$($kind:literal $count:literal),+] = [$($step:ident),+];)+) => {
        &[$(Pattern { name: $name, claims: &[$(($kind, $count)),+], steps: &[$(Step::$step),+] }),+]
    };
}

/// Singles, then the pairs that show who shares a pipe, then the triples and steps that a hash is made of.
pub const PATTERNS: &[Pattern] = patterns! {
    "LOP3": ["LOP3" 1] = [Lop3];
    "IADD3": ["IADD3" 1] = [Iadd3];
    "LEA.HI": ["LEA.HI" 1] = [LeaHi];
    "SHF": ["SHF" 1] = [Shf];
    "PRMT": ["PRMT" 1] = [Prmt];
    "ISETP": ["ISETP" 1] = [Isetp];
    "IMAD": ["IMAD" 1] = [Imad];
    "IMAD.HI": ["IMAD.HI" 1] = [ImadHi];
    "IMAD.WIDE": ["IMAD.WIDE" 1] = [ImadWide];
    "IADD3+VIADD": ["IADD3" 1, "VIADD" 1] = [AddNumberIf, AddNumberIf];
    "IADD3+IMAD.IADD": ["IADD3" 1, "IMAD.IADD" 1] = [AddNeighbour, AddNeighbour];
    "LOP3+IMAD": ["LOP3" 1, "IMAD" 1] = [Lop3, ImadOther];
    "LOP3+IMAD.HI": ["LOP3" 1, "IMAD.HI" 1] = [Lop3, ImadHi];
    "LOP3+IADD3": ["LOP3" 1, "IADD3" 1] = [Lop3, Iadd3];
    "LOP3+LEA.HI": ["LOP3" 1, "LEA.HI" 1] = [Lop3, LeaHi];
    "LOP3+SHF": ["LOP3" 1, "SHF" 1] = [Lop3, Shf];
    "LEA.HI+IMAD": ["LEA.HI" 1, "IMAD" 1] = [LeaHi, ImadOther];
    "IADD3+IMAD": ["IADD3" 1, "IMAD" 1] = [Iadd3, ImadOther];
    "IMAD+IMAD.HI": ["IMAD" 1, "IMAD.HI" 1] = [Imad, ImadHi];
    "LOP3+IADD3+LEA.HI": ["LOP3" 1, "IADD3" 1, "LEA.HI" 1] = [Lop3, Iadd3, LeaHi];
    "LOP3+IMAD+LEA.HI": ["LOP3" 1, "IMAD" 1, "LEA.HI" 1] = [Lop3, Imad, LeaHi];
    "LOP3+VIADD+LEA.HI": ["LOP3" 1, "VIADD" 1, "LEA.HI" 1] = [Lop3, LeaHi, AddNumber];
    "LOP3+IADD3+IMAD+LEA.HI": ["LOP3" 1, "IADD3" 1, "IMAD" 1, "LEA.HI" 1] = [Lop3, Iadd3, Imad, LeaHi];
    "LOP3+2 IMAD+LEA.HI": ["LOP3" 1, "IMAD" 2, "LEA.HI" 1] = [Lop3, Imad, Imad, LeaHi];
};

impl Pattern {
    /// Instructions of a step.
    pub fn per_step(&self) -> u32 {
        self.claims.iter().map(|(_, count)| count).sum()
    }
}
