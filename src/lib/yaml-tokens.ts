/** The tokens that YAML is cut into, on the way from yaml-scan.ts to yaml-parse.ts. */

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
  /** A scalar without quotes and on its own; only such ones can be numbers and the like. */
  readonly isPlain: boolean;
  /** Offset in the text, in UTF-16 code units; of a scalar that of its quote or block sign. */
  readonly start: number;
  /** Offset behind it; of a block scalar behind its last line. */
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

/** A token that may turn out to be a key; one for each level of flow collections. */
export interface SimpleKey {
  isPossible: boolean;
  /** At the start of a block's line: there it has to be one. */
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
