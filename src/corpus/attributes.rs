//! Copies the extended attributes of a file to the file that replaces it.
//!
//! Invariant: the new file has the access control list of the old one, or none if that has none.

use std::fs::File;

use rustix::fs::XattrFlags;
use rustix::io::Errno;

/// The extended attribute that holds the access control list of a file (POSIX.1e, acl(5)).
const ACCESS_LIST: &str = "system.posix_acl_access";

/// Gives the file `new` the extended attributes of `old`, and the access control list of `old` instead of
/// the one that it got from its folder. Fails if that, or an attribute of the user, cannot be copied. Others are
/// copied if the system allows it: only privileged processes set those of security modules.
pub(super) fn copy_attributes(old: &File, new: &File) -> rustix::io::Result<()> {
    let names = match attribute(|buffer| rustix::fs::flistxattr(old, buffer)) {
        // The file system has no extended attributes.
        Err(Errno::NOTSUP) => return Ok(()),
        names => names?,
    };
    let names: Vec<_> = names.split(|byte| *byte == 0).filter(|name| !name.is_empty()).collect();
    if cfg!(target_os = "linux") && !names.contains(&ACCESS_LIST.as_bytes()) {
        match rustix::fs::fremovexattr(new, ACCESS_LIST) {
            Ok(()) | Err(Errno::NODATA | Errno::NOTSUP) => {}
            error => return error,
        }
    }
    for name in names {
        let copied = attribute(|buffer| rustix::fs::fgetxattr(old, name, buffer))
            .and_then(|value| rustix::fs::fsetxattr(new, name, &value, XattrFlags::empty()));
        if name == ACCESS_LIST.as_bytes() || name.starts_with(b"user.") {
            copied?;
        }
    }
    Ok(())
}

/// Returns the bytes that `read` writes, with a buffer that is large enough for them.
fn attribute(read: impl Fn(&mut [u8]) -> rustix::io::Result<usize>) -> rustix::io::Result<Vec<u8>> {
    // The largest size of a value on Linux (xattr(7)).
    let mut buffer = vec![0; 64 << 10];
    let length = read(&mut buffer)?;
    buffer.truncate(length);
    Ok(buffer)
}
