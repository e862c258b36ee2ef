//! Words and bytes as hexadecimal text.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A 32-bit word, written as exactly 8 lower-case hex digits, most significant first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hex32(pub u32);

impl From<u32> for Hex32 {
    fn from(word: u32) -> Self {
        Self(word)
    }
}

impl fmt::Display for Hex32 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

impl Serialize for Hex32 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hex32 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = decode_hex(&text).map_err(de::Error::custom)?;
        let word: [u8; 4] = bytes
            .try_into()
            .map_err(|_| de::Error::custom(format!("`{text}` should be a word of 8 hex digits")))?;
        Ok(Self(u32::from_be_bytes(word)))
    }
}

/// Why a text is not hexadecimal bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HexError {
    /// The text has an odd number of characters.
    #[error("{0} characters are not whole bytes: hex text has two lower-case digits a byte")]
    OddLength(usize),
    /// A character is not one of `0-9a-f`.
    #[error("character {at} should be one of 0-9 and a-f")]
    NotADigit {
        /// Its place, from 1, in bytes.
        at: usize,
    },
}

/// The bytes that lower-case hex text stands for.
pub fn decode_hex(text: &str) -> Result<Vec<u8>, HexError> {
    let digits = text
        .bytes()
        .enumerate()
        .map(|(i, byte)| match byte {
            b'0'..=b'9' => Ok(byte - b'0'),
            b'a'..=b'f' => Ok(byte - b'a' + 10),
            _ => Err(HexError::NotADigit { at: i + 1 }),
        })
        .collect::<Result<Vec<u8>, _>>()?;
    if digits.len() % 2 != 0 {
        return Err(HexError::OddLength(digits.len()));
    }
    Ok(digits
        .chunks_exact(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect())
}

/// Bytes as lower-case hex text.
pub fn encode_hex(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}
