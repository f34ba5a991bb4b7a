/** The failed request, for messages and logs. */
export interface RequestRef {
  /** get, list, watch, create, update, patch, apply, delete, or an HTTP method. */
  readonly verb: string;
  /** The kind, or the path of a request outside the object verbs. */
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly sub?: string | undefined;
}
