/** The places where a template goes one of two ways. */

/** The block itself, or what happens instead. */
export type Way = 'block' | 'else';

export interface Fork {
  /** Offset in the source. */
  readonly pos: number;
  /** Such as `{{if .imports.ha}}`. */
  readonly text: string;
  readonly ways: readonly Way[];
}

/** Called for each way that an execution goes. @param pos of the fork in the source */
export type WayListener = (source: string, pos: number, way: Way) => void;
