//! From frames to bytes: what is finished goes into the terminal's scrollback once, the live region below it is painted
//! over. Pure: bytes come out, `front::term` writes them.
