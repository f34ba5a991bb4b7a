/** The document has no value; the message says why, and nothing of any value. */
export class SpiffProblem extends Error {}
