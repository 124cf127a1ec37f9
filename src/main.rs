//! x
use std::time::{Duration,Instant};
struct P; impl mdsel::ingest::Progress for P { fn start(&self,_:usize){} fn advance(&self){} }
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let t=Instant::now();
    let store=std::path::PathBuf::from(&a[1]);
    let paths=vec![std::path::PathBuf::from(&a[2])];
    let r=mdsel::ingest::run(&mdsel::ingest::Request{store:&store,root:None,paths:&paths,options:Default::default(),force:false,wait:Duration::from_secs(1)},&P);
    match r { Ok(mut r)=>{ r.warnings.truncate(3); println!("{:?} {:?}",r,t.elapsed());}, Err(e)=>println!("{e} {:?}",e.hints()) }
}
