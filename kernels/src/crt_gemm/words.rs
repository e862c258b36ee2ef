//! Values as the 32-bit words that buffers are made of, low half first.

/// Doubles, two words each.
pub fn of_doubles(values: &[f64]) -> Vec<u32> {
    of_longs(values.iter().map(|v| v.to_bits()))
}

/// 64-bit integers, two words each.
pub fn of_longs(values: impl IntoIterator<Item = u64>) -> Vec<u32> {
    values
        .into_iter()
        .flat_map(|v| [v as u32, (v >> 32) as u32])
        .collect()
}

/// Words as 64-bit integers.
pub fn longs(words: &[u32]) -> impl Iterator<Item = u64> + '_ {
    words
        .as_chunks::<2>()
        .0
        .iter()
        .map(|&[low, high]| u64::from(low) | u64::from(high) << 32)
}

/// Words as 128-bit integers with a sign.
pub fn quads(words: &[u32]) -> impl Iterator<Item = i128> + '_ {
    let quad = |words: &[u32; 4]| {
        let bits = (0..).zip(words).map(|(i, &word)| u128::from(word) << (32 * i));
        bits.sum::<u128>() as i128
    };
    words.as_chunks::<4>().0.iter().map(quad)
}

/// Words as doubles.
pub fn doubles(words: &[u32]) -> impl Iterator<Item = f64> + '_ {
    longs(words).map(f64::from_bits)
}

/// Words as bytes.
pub fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Bytes as words; the last one is filled up with zeros.
pub fn of_bytes(bytes: &[u8]) -> Vec<u32> {
    let word = |chunk: &[u8]| {
        let mut word = [0; 4];
        word[..chunk.len()].copy_from_slice(chunk);
        u32::from_le_bytes(word)
    };
    bytes.chunks(4).map(word).collect()
}

/// Words that so many bytes take.
pub fn for_bytes(bytes: usize) -> usize {
    bytes.div_ceil(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_survive_the_way_there_and_back() {
        let values = [0.0, -1.5, f64::INFINITY, 1e-310];
        assert_eq!(doubles(&of_doubles(&values)).collect::<Vec<_>>(), values);
        assert_eq!(
            longs(&of_longs([u64::MAX - 1, 7])).collect::<Vec<_>>(),
            [u64::MAX - 1, 7]
        );
        assert_eq!(
            quads(&[u32::MAX - 1, u32::MAX, u32::MAX, u32::MAX]).next(),
            Some(-2)
        );
        assert_eq!(bytes(&[0x0403_0201]), [1, 2, 3, 4]);
        assert_eq!(of_bytes(&[1, 2, 3, 4, 5]), [0x0403_0201, 5]);
        assert_eq!((for_bytes(0), for_bytes(4), for_bytes(5)), (0, 1, 2));
    }
}
