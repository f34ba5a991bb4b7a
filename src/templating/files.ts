/** The files of a blueprint, as far as templates may see them. */

export interface TemplateFiles {
  /** undefined when there is no such file */
  read(path: string): Uint8Array | undefined;
  /** undefined when there is no such folder; sorted by name */
  list(path: string): readonly TemplateFileEntry[] | undefined;
}

export interface TemplateFileEntry {
  readonly name: string;
  readonly isDirectory: boolean;
  /** bytes, 0 for folders */
  readonly size: number;
}

/** For templates that come without a blueprint. */
export const noFiles: TemplateFiles = { read: () => undefined, list: () => undefined };
