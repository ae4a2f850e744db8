//! Names the library as loaders look for it, and has it stay when they close it: its threads live
//! as long as the process.

fn main() {
    for argument in ["-soname,libur_adapter_millpond.so.0", "-z,nodelete"] {
        println!("cargo::rustc-cdylib-link-arg=-Wl,{argument}");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
