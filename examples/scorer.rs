// Scores rows of two numbers from standard input and prints those that stand out, through the C
// functions of oif.h. `bindgen oif.h` writes such declarations for all of them.
//
//     rustc scorer.rs -L native=$(pkg-config --variable=libdir oif) -o scorer
//     printf '60,4\n61,4.1\n' | ./scorer
use std::ffi::{CStr, CString};
use std::io::BufRead;
use std::os::raw::{c_char, c_int};

const PARAMS_MAX: usize = 48;
const MESSAGE_BYTES: usize = 240;

#[repr(C)]
struct Params {
    table: *const u8,
    values: [f64; PARAMS_MAX],
}

#[repr(C)]
struct Error {
    status: c_int,
    line: u64,
    column: u64,
    message: [c_char; MESSAGE_BYTES],
    reserved: [u64; 4],
}

#[repr(C)]
struct Detector {
    _private: [u8; 0],
}

#[link(name = "oif")]
extern "C" {
    fn oif_params_init(params: *mut Params, detector: *const c_char, error: *mut Error) -> c_int;
    fn oif_detector_new(params: *const Params, columns: usize, detector: *mut *mut Detector, error: *mut Error) -> c_int;
    fn oif_detector_learn_score(detector: *mut Detector, row: *const f64, score: *mut f64, error: *mut Error) -> c_int;
    fn oif_detector_ready(detector: *const Detector) -> bool;
    fn oif_detector_rows_learned(detector: *const Detector) -> u64;
    fn oif_detector_free(detector: *mut Detector);
}

/// A detector that frees itself.
struct Forest(*mut Detector);

fn check(status: c_int, error: &Error) -> Result<(), String> {
    match status {
        0 => Ok(()),
        _ => Err(unsafe { CStr::from_ptr(error.message.as_ptr()) }.to_string_lossy().into_owned()),
    }
}

impl Forest {
    fn new(name: &str, columns: usize) -> Result<Forest, String> {
        let name = CString::new(name).map_err(|e| e.to_string())?;
        unsafe {
            let (mut error, mut params): (Error, Params) = (std::mem::zeroed(), std::mem::zeroed());
            let mut detector = std::ptr::null_mut();
            check(oif_params_init(&mut params, name.as_ptr(), &mut error), &error)?;
            check(oif_detector_new(&params, columns, &mut detector, &mut error), &error)?;
            Ok(Forest(detector))
        }
    }

    fn learn_score(&mut self, row: &[f64; 2]) -> Result<f64, String> {
        let mut score = 0.0;
        unsafe {
            let mut error: Error = std::mem::zeroed();
            check(oif_detector_learn_score(self.0, row.as_ptr(), &mut score, &mut error), &error)?;
        }
        Ok(score)
    }
}

impl Drop for Forest {
    fn drop(&mut self) {
        unsafe { oif_detector_free(self.0) }
    }
}

fn main() -> Result<(), String> {
    let mut forest = Forest::new("rolling-iforest", 2)?;
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|e| e.to_string())?;
        let numbers: Vec<f64> = line.split(',').filter_map(|text| text.trim().parse().ok()).collect();
        if let [flow, pressure] = numbers[..] {
            let score = forest.learn_score(&[flow, pressure])?;
            if unsafe { oif_detector_ready(forest.0) } && score > 0.7 {
                println!("{flow},{pressure} is unusual: {score:.3}");
            }
        }
    }
    println!("{} rows", unsafe { oif_detector_rows_learned(forest.0) });
    Ok(())
}
