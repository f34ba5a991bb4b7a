/** A Go library's error about an argument, with Go's message. The caller adds the position. */
export class GoError extends Error {}
