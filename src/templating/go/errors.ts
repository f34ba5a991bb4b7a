/** A Go library's complaint about an argument, in its words. Whoever called it adds the place. */
export class GoError extends Error {}
