//! Leading zeros of a digest as it is printed.

/// Leading zero hex digits.
pub fn hex_digits(digest: &[u8; 16]) -> u32 {
    bits(digest) / 4
}

/// Leading zero bits.
pub fn bits(digest: &[u8; 16]) -> u32 {
    u128::from_be_bytes(*digest).leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_counted_from_the_first_printed_digit() {
        let mut digest = [0; 16];
        assert_eq!((hex_digits(&digest), bits(&digest)), (32, 128));
        digest[4] = 0x0f;
        assert_eq!((hex_digits(&digest), bits(&digest)), (9, 36));
        digest[0] = 0x80;
        assert_eq!((hex_digits(&digest), bits(&digest)), (0, 0));
    }
}
