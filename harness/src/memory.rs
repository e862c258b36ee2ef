//! Memory of the host: what does not fit is refused by a sentence, before the system ends the program.

use std::fs;

/// More memory than there is: exit code 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{needed} bytes of memory are needed{}", .available.map_or(String::new(), |free| format!(", {free} are free")))]
pub struct NoMemory {
    /// Bytes that are needed.
    pub needed: u64,
    /// Bytes that are free, where the system tells.
    pub available: Option<u64>,
}

impl NoMemory {
    /// There are no `needed` bytes.
    pub fn of(needed: u64) -> NoMemory {
        let available = fs::read_to_string("/proc/meminfo")
            .ok()
            .and_then(|text| available(&text));
        NoMemory { needed, available }
    }
}

/// Whether the host has `needed` bytes. Another program may take them in between: it is no promise.
///
/// # Errors
/// When it has not.
pub fn afford(needed: u64) -> Result<(), NoMemory> {
    let memory = NoMemory::of(needed);
    match memory.available {
        Some(available) if needed > available => Err(memory),
        // Where the system does not tell, what no address space holds is refused all the same.
        None if needed > isize::MAX as u64 => Err(memory),
        _ => Ok(()),
    }
}

/// Bytes that the kernel would give without taking any from another program, swap included.
fn available(meminfo: &str) -> Option<u64> {
    let bytes = |name: &str| -> Option<u64> {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
        let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        kilobytes.checked_mul(1024)
    };
    bytes("MemAvailable:")?.checked_add(bytes("SwapFree:").unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_free_is_read_from_the_systems_own_table() {
        let text = "MemTotal:  24000 kB\nMemAvailable:   1000 kB\nSwapFree:        24 kB\n";
        assert_eq!(available(text), Some(1024 * 1024));
        assert_eq!(available("MemAvailable: 3 kB\n"), Some(3072));
        for odd in ["", "MemAvailable: x kB", "MemAvailable: 99999999999999999999 kB"] {
            assert_eq!(available(odd), None, "{odd}");
        }
    }

    #[test]
    fn more_than_there_is_is_refused_with_both_numbers() {
        assert_eq!(afford(1 << 10), Ok(()));
        let refused = afford(u64::MAX).unwrap_err();
        assert!(
            refused.to_string().contains("18446744073709551615 bytes"),
            "{refused}"
        );
    }
}
