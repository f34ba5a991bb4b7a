/** The tokens between yaml-scan.ts and yaml-parse.ts. */

export type YamlTokenKind =
  | 'stream-end'
  | 'version'
  | 'tag-directive'
  | 'document-start'
  | 'document-end'
  | 'block-sequence'
  | 'block-mapping'
  | 'block-end'
  | 'sequence'
  | 'sequence-end'
  | 'mapping'
  | 'mapping-end'
  | 'entry'
  | 'flow-entry'
  | 'key'
  | 'value'
  | 'alias'
  | 'anchor'
  | 'tag'
  | 'scalar';

export interface YamlToken {
  readonly kind: YamlTokenKind;
  /** 0-based. */
  readonly line: number;
  /** Text of a scalar, name of an anchor or alias, handle of a tag. */
  readonly value: string;
  /** Suffix of a tag, prefix of a tag directive. */
  readonly suffix: string;
  /** A plain scalar; only these can be numbers and other types. */
  readonly isPlain: boolean;
  /** Offset in the text, in UTF-16 code units; for a scalar that of its quote or block indicator. */
  readonly start: number;
  /** Offset after it; for a block scalar after its last line. */
  readonly end: number;
}

/** A token without text. */
export const markOf = (kind: YamlTokenKind, line: number, start: number, end = start): YamlToken => ({
  kind,
  line,
  value: '',
  suffix: '',
  isPlain: false,
  start,
  end,
});

/** A token that may be a key; one for each level of flow collections. */
export interface SimpleKey {
  isPossible: boolean;
  /** Whether it is at the start of a block's line, where it must be a key. */
  isRequired: boolean;
  token: number;
  index: number;
  line: number;
  column: number;
}

export const noKey = (): SimpleKey => ({
  isPossible: false,
  isRequired: false,
  token: -1,
  index: 0,
  line: 0,
  column: 0,
});
