/** The places where a template goes one of two ways. */

/** The block itself, or what happens instead. */
export type Way = 'block' | 'else';

export interface Fork {
  /** Offset in the source. */
  readonly pos: number;
  /** Such as `{{if .imports.ha}}`. */
  readonly text: string;
  readonly ways: readonly Way[];
  /** How the engine reports it, if not with the source and `pos`. */
  readonly reported?: { readonly source: string; readonly pos: number };
}

/**
 * Called for each way that an execution goes.
 * @param source the template or included file; for Spiff the text of the expression
 * @param pos of the fork in the source
 */
export type WayListener = (source: string, pos: number, way: Way) => void;
