/** Invalid YAML, or YAML that cannot be represented as JSON. The message is like go-yaml's. */
export class YamlError extends Error {
  override readonly name = 'YamlError';
  /** 1-based; undefined if unknown. */
  readonly line: number | undefined;

  constructor(message: string, line?: number, options?: ErrorOptions) {
    super(message, options);
    this.line = line;
  }
}

/** An integer that a double cannot represent; the message contains its digits. */
export class IntegerTooLong extends YamlError {}

/** The text, or what its aliases stand for, is larger than the caller allows. */
export class YamlTooLarge extends YamlError {}

/** An error at a line. @param line 0-based */
export const yamlErrorAt = (problem: string, line: number): YamlError =>
  new YamlError(`yaml: line ${String(line + 1)}: ${problem}`, line + 1);

/** Aliases expand to more values than are allowed. @param outermost the alias in the text that contains all others */
export const excessiveAliasing = (outermost: { readonly name: string; readonly line: number }): YamlError =>
  yamlErrorAt(`document contains excessive aliasing, at *${outermost.name}`, outermost.line);

/** Aliases expand to more text than is allowed. @param outermost as above */
export const tooMuchAliased = (
  outermost: { readonly name: string; readonly line: number },
  limitMib: number,
): YamlError =>
  yamlErrorAt(
    `the aliases of the document stand for more than ${String(limitMib)} MiB, at *${outermost.name}`,
    outermost.line,
  );
