//! What goes wrong outside of the program: it is killed, the disk is full, others write to the same files.

mod damage;
mod disk;
mod kill;
mod log;
mod prune;
mod writers;
