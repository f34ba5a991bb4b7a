/** Access to the files of a blueprint, for templates. */

export interface TemplateFiles {
  /** undefined if the file does not exist */
  read(path: string): Uint8Array | undefined;
  /** undefined if the folder does not exist; sorted by name */
  list(path: string): readonly TemplateFileEntry[] | undefined;
}

export interface TemplateFileEntry {
  readonly name: string;
  readonly isDirectory: boolean;
  /** bytes, 0 for folders */
  readonly size: number;
}

/** For templates without a blueprint. */
export const noFiles: TemplateFiles = { read: () => undefined, list: () => undefined };
