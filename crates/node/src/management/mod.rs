pub mod rib;
