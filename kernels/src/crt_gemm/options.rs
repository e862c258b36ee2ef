//! A variant's options: the TOML file as it is read and checked.

use serde::{Deserialize, Serialize};

use super::moduli::{ACCUMULATOR_DEPTH, Bound, MAX_BITS, Residues};
use crate::family::{SIZE_KEY, VariantError};
use crate::multiply::MultiplyError;

/// A variant file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VariantFile {
    /// One line about the variant.
    pub summary: String,
    /// What it computes and how.
    pub options: Options,
    /// How it is launched.
    #[serde(default)]
    pub launch: LaunchOptions,
    /// What a trial multiplies.
    pub trial: TrialOptions,
}

/// What a variant computes and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// How doubles become integers.
    pub scheme: Scheme,
    /// Which kernel multiplies.
    pub kernel: KernelKind,
    /// How residues lie.
    #[serde(default)]
    pub layout: Layout,
    /// Rows and columns of C that a block computes; of `s8s8s32` and of `mma` with `moduli`, which need it.
    pub tile: Option<TileSize>,
    /// Bits of a line's largest value that count, in the choice of the moduli; of `moduli`. Default: [`DEFAULT_BITS`]. Of
    /// `fixed-point` its bits of mantissa. Default: [`DEFAULT_MANTISSA`].
    pub bits: Option<u32>,
    /// What bounds the sums; of `moduli`. Default: [`Bound::Accurate`].
    pub bound: Option<Bound>,
    /// Which residues are multiplied; of `moduli` with `naive` or `wgmma`. Default: [`Residues::Balanced`].
    pub residues: Option<Residues>,
}

/// How doubles become integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// Two slices, seven primes.
    Split2,
    /// Values rounded to integers, as many moduli as K and the wanted bits need.
    Moduli,
    /// None: the INT8 product alone, of bytes with a sign.
    Int8,
    /// None: the card's own doubles.
    Native,
    /// The vendor's own: doubles of the library's fixed-point emulation.
    #[serde(rename = "fixed-point")]
    FixedPoint,
}

/// Which kernel multiplies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KernelKind {
    /// One thread an element of C.
    Naive,
    /// Tensor cores, up to the double in registers.
    Mma,
    /// Tensor cores, 32-bit sums.
    S8s8s32,
    /// Tensor cores by warpgroups, which read shared memory themselves: sm_90a.
    Wgmma,
    /// The vendor's library.
    Cublas,
}

impl KernelKind {
    /// Whether its blocks multiply by tensor cores, in tiles.
    pub fn has_tensor_cores(self) -> bool {
        match self {
            KernelKind::Naive | KernelKind::Cublas => false,
            KernelKind::Mma | KernelKind::S8s8s32 | KernelKind::Wgmma => true,
        }
    }
}

/// Rows and columns of C that a block computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
pub enum TileSize {
    /// 128 rows, 128 columns.
    #[serde(rename = "128x128")]
    Square,
    /// 128 rows, 256 columns.
    #[serde(rename = "128x256")]
    Wide,
}

/// How residues lie.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// Row after row, without padding.
    #[default]
    Plain,
    /// Along K for both matrices, padded with zeros to tiles of 128 rows of A, 64 columns of B and 32 of K: what the kernels
    /// with tensor cores read.
    Tiles,
    /// Padded as the kernel by warpgroups reads them: in blocks of 128 of K, a block's lines one after the other, each line's
    /// chunks of 16 bytes permuted by the line's number modulo 8.
    Blocks,
}

/// How a variant is launched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchOptions {
    /// Threads a block, a multiple of 32; of `naive`, which needs it.
    pub block: Option<u32>,
    /// Tiles in shared memory; of the kernels with tensor cores, which need it.
    pub stages: Option<u32>,
    /// Blocks in flight, each of which takes tile after tile; of `wgmma`. Default: one a tile.
    pub in_flight: Option<u32>,
}

/// What a trial multiplies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialOptions {
    /// Rows, columns and K of a trial's matrices.
    pub edge: u32,
    /// Whether it was asked for by name, `NAME@EDGE`: then it is that on a slow device too.
    #[serde(skip)]
    pub fixed: bool,
}

impl TrialOptions {
    /// The edge, where it was asked for by name.
    pub fn fixed(self) -> Option<usize> {
        self.fixed.then_some(self.edge as usize)
    }
}

/// Least `trial.edge`.
pub const MIN_EDGE: u32 = 16;
/// Largest `trial.edge` of the two-slice scheme, whose fold bounds K.
pub const MAX_EDGE: u32 = super::split2::MAX_DEPTH as u32;
/// Largest `trial.edge` of the INT8 product alone.
pub const MAX_INT8_EDGE: u32 = 32_768;
/// Largest `trial.edge` of the scheme of N moduli: what a trial's host and card have memory for.
pub const MAX_MODULI_EDGE: u32 = 32_768;
const _: () = assert!(MAX_MODULI_EDGE as usize <= ACCUMULATOR_DEPTH);
/// `options.bits` where a file has none: a double's.
pub const DEFAULT_BITS: u32 = 53;
/// The same of `fixed-point`: 7 bytes with the sign.
pub const DEFAULT_MANTISSA: u32 = 55;
/// Least `options.bits`: more than the bits of a magnitude that bounds a sum, as rounding to integers takes for granted.
pub const MIN_BITS: u32 = 26;
/// Largest `launch.stages` of `wgmma`: what a Hopper block's shared memory holds beside the remainders.
pub const MAX_WGMMA_STAGES: u32 = 4;
/// Largest `launch.in_flight`.
pub const MAX_IN_FLIGHT: u32 = 65_535;
/// Largest `launch.stages`.
pub const MAX_STAGES: u32 = 8;

impl VariantFile {
    /// Read and check a variant file.
    ///
    /// # Errors
    /// A syntax error with its line, or the first key whose value is out of range.
    pub fn parse(text: &str) -> Result<VariantFile, VariantError> {
        let file: VariantFile = toml::from_str(text).map_err(|error| VariantError::of_toml(&error, text))?;
        file.check()?;
        Ok(file)
    }

    fn check(&self) -> Result<(), VariantError> {
        let wrong = |key, what: String| Err(VariantError::Value { key, what });
        let Options {
            scheme,
            kernel,
            layout,
            tile,
            bits,
            bound,
            residues,
        } = self.options;
        let tensor = kernel.has_tensor_cores();
        let name = word(&kernel);
        let schemes: &[Scheme] = match kernel {
            KernelKind::Naive | KernelKind::Mma => &[Scheme::Split2, Scheme::Moduli],
            KernelKind::S8s8s32 => &[Scheme::Int8],
            KernelKind::Wgmma => &[Scheme::Moduli],
            KernelKind::Cublas => &[Scheme::Moduli, Scheme::Native, Scheme::FixedPoint, Scheme::Int8],
        };
        if !schemes.contains(&scheme) {
            let words: Vec<String> = schemes
                .iter()
                .map(|scheme| format!("`{}`", word(scheme)))
                .collect();
            return wrong(
                "options.scheme",
                format!("{name} computes {} only", words.join(" or ")),
            );
        }
        let layouts: &[Layout] = match (kernel, scheme) {
            (KernelKind::Wgmma, _) => &[Layout::Blocks],
            (KernelKind::Naive, Scheme::Moduli) => &[Layout::Tiles, Layout::Blocks],
            (KernelKind::Naive, _) => &[Layout::Plain, Layout::Tiles],
            (_, Scheme::Native | Scheme::FixedPoint) => &[Layout::Plain],
            _ => &[Layout::Tiles],
        };
        if !layouts.contains(&layout) {
            let words: Vec<String> = layouts
                .iter()
                .map(|layout| format!("`{}`", word(layout)))
                .collect();
            let what = format!(
                "{name} reads {} only, with `{}`",
                words.join(" or "),
                word(&scheme)
            );
            return wrong("options.layout", what);
        }
        if kernel == KernelKind::Cublas {
            let launch = self.launch;
            let keys = [
                ("launch.block", launch.block),
                ("launch.stages", launch.stages),
                ("launch.in_flight", launch.in_flight),
            ];
            if let Some((key, _)) = keys.into_iter().find(|(_, value)| value.is_some()) {
                return wrong(key, "cublas has none to choose".to_owned());
            }
        }
        match self.launch.in_flight {
            Some(_) if kernel != KernelKind::Wgmma => {
                return wrong("launch.in_flight", format!("{name} has one a tile"));
            }
            Some(blocks) => VariantError::within("launch.in_flight", blocks, 1..=MAX_IN_FLIGHT)?,
            None => {}
        }
        let chooses_tile = tensor && scheme != Scheme::Split2 && kernel != KernelKind::Wgmma;
        match (chooses_tile, tile) {
            (true, None) => return wrong("options.tile", format!("{name} needs it: `128x128` or `128x256`")),
            (false, Some(_)) => return wrong("options.tile", format!("{name} has none to choose")),
            (true, Some(_)) | (false, None) => {}
        }
        let chooses_residues =
            scheme == Scheme::Moduli && matches!(kernel, KernelKind::Naive | KernelKind::Wgmma);
        if residues.is_some() && !chooses_residues {
            let what = format!("{name} with `{}` has none to choose", word(&scheme));
            return wrong("options.residues", what);
        }
        let has_bits = matches!(scheme, Scheme::Moduli | Scheme::FixedPoint);
        for (key, is_set, is_had, owners) in [
            (
                "options.bits",
                bits.is_some(),
                has_bits,
                "`moduli` and `fixed-point`",
            ),
            (
                "options.bound",
                bound.is_some(),
                scheme == Scheme::Moduli,
                "`moduli`",
            ),
        ] {
            if is_set && !is_had {
                let what = format!("`{}` has none to choose: it is of {owners}", word(&scheme));
                return wrong(key, what);
            }
        }
        VariantError::within("options.bits", self.bits(), MIN_BITS..=MAX_BITS)?;
        match (tensor, self.launch.block, self.launch.stages) {
            (false, None, None) if kernel == KernelKind::Cublas => {}
            (false, None, _) => return wrong("launch.block", format!("{name} needs it: 32 to 1024")),
            (false, Some(block), None) => {
                VariantError::within("launch.block", block, 32..=1024)?;
                if !block.is_multiple_of(32) {
                    let what = format!("{block} is not a multiple of 32, the threads of a warp");
                    return wrong("launch.block", what);
                }
            }
            (false, _, Some(_)) => return wrong("launch.stages", format!("{name} has no stages")),
            (true, Some(_), _) => {
                return wrong(
                    "launch.block",
                    format!("{name} has as many threads as its tile needs"),
                );
            }
            (true, None, None) => {
                return wrong("launch.stages", format!("{name} needs it: 2 to {MAX_STAGES}"));
            }
            (true, None, Some(stages)) => {
                let most = if kernel == KernelKind::Wgmma {
                    MAX_WGMMA_STAGES
                } else {
                    MAX_STAGES
                };
                VariantError::within("launch.stages", stages, 2..=most)?;
            }
        }
        self.check_edge("trial.edge")
    }

    /// The same with another edge, as it stands behind the `@` of a name.
    ///
    /// # Errors
    /// When that is no edge the scheme can have.
    pub fn at(mut self, edge: &str) -> Result<VariantFile, VariantError> {
        let number = edge
            .parse()
            .ok()
            .filter(|_| edge.bytes().all(|byte| byte.is_ascii_digit()));
        self.trial = TrialOptions {
            edge: number.ok_or_else(|| VariantError::Value {
                key: SIZE_KEY,
                what: format!("`{edge}` is outside {MIN_EDGE} to {}", self.most_edge()),
            })?,
            fixed: true,
        };
        self.check_edge(SIZE_KEY)?;
        Ok(self)
    }

    fn check_edge(&self, key: &'static str) -> Result<(), VariantError> {
        VariantError::within(key, self.trial.edge, MIN_EDGE..=self.most_edge())
    }

    fn most_edge(&self) -> u32 {
        match self.options.scheme {
            Scheme::Split2 => MAX_EDGE,
            Scheme::Moduli | Scheme::Native | Scheme::FixedPoint => MAX_MODULI_EDGE,
            Scheme::Int8 => MAX_INT8_EDGE,
        }
    }

    /// Bits of a line's largest value that count, in the choice of the moduli; bits of mantissa of `fixed-point`.
    pub fn bits(&self) -> u32 {
        let default = if self.options.scheme == Scheme::FixedPoint {
            DEFAULT_MANTISSA
        } else {
            DEFAULT_BITS
        };
        self.options.bits.unwrap_or(default)
    }

    /// The same variant with other bits.
    ///
    /// # Errors
    /// [`MultiplyError::Bits`] when they are outside [`MIN_BITS`] to [`MAX_BITS`].
    pub fn with_bits(&self, bits: u32) -> Result<VariantFile, MultiplyError> {
        if !(MIN_BITS..=MAX_BITS).contains(&bits) {
            return Err(MultiplyError::Bits {
                bits,
                allowed: format!("{MIN_BITS} to {MAX_BITS} are allowed"),
            });
        }
        let mut file = self.clone();
        file.options.bits = Some(bits);
        Ok(file)
    }

    /// What bounds the sums.
    pub fn bound(&self) -> Bound {
        self.options.bound.unwrap_or_default()
    }

    /// Which residues are multiplied.
    pub fn residues(&self) -> Residues {
        self.options.residues.unwrap_or_default()
    }

    /// The options with their values, in the order of the file format.
    pub fn described(&self) -> Vec<(&'static str, String)> {
        let mut all = vec![
            ("options.scheme", word(&self.options.scheme)),
            ("options.kernel", word(&self.options.kernel)),
            ("options.layout", word(&self.options.layout)),
        ];
        if let Some(tile) = &self.options.tile {
            all.push(("options.tile", word(tile)));
        }
        if matches!(self.options.scheme, Scheme::Moduli | Scheme::FixedPoint) {
            all.push(("options.bits", self.bits().to_string()));
        }
        if self.options.scheme == Scheme::Moduli {
            all.push(("options.bound", word(&self.bound())));
            all.push(("options.residues", word(&self.residues())));
        }
        for (key, value) in [
            ("launch.block", self.launch.block),
            ("launch.stages", self.launch.stages),
            ("launch.in_flight", self.launch.in_flight),
        ] {
            all.extend(value.map(|value| (key, value.to_string())));
        }
        all.push(("trial.edge", self.trial.edge.to_string()));
        all
    }
}

/// A value of an enumeration as the file spells it.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(text)) => text,
        other => unreachable!("every option is a word, this one is {other:?}"),
    }
}
