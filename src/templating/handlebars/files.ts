/** Parses files of the blueprint as templates. */
import { sourceBlock } from '../excerpt.ts';
import type { Env } from '../gotemplate/env.ts';
import { FunctionError, TemplateError, TemplateLimitExceeded } from '../gotemplate/errors.ts';
import { stringOf } from '../go/go-string.ts';
import { readSource, type Source } from './source.ts';

/** undefined if the file does not exist. @throws TemplateParseError */
export function fileSource(env: Env, path: string): Source | undefined {
  const content = env.files.read(path);
  return content && readSource(path, stringOf(content));
}

/** Errors of another file contain its lines. */
export function withSource(env: Env, path: string, error: unknown): unknown {
  if (
    !(error instanceof TemplateError) ||
    error instanceof TemplateLimitExceeded ||
    error.template !== path
  ) {
    return error;
  }
  const text = stringOf(env.files.read(path) ?? new Uint8Array());
  return new FunctionError(error.message + sourceBlock(error.message, text), { cause: error });
}
