/** Finds the templates of a blueprint's executions: strings and trees in it, and files beside it. */
import type { TemplateExecutor } from '../../api/blueprint.ts';
import type { View } from '../../lib/objects.ts';
import type { Blueprint } from '../model.ts';
import { Source } from './source.ts';
import type { SourceFiles } from './source-files.ts';
import { executionLists, type FoundTemplate } from './subject.ts';
import type { Path, YamlText } from './yaml-text.ts';

export function findTemplates(
  document: YamlText,
  info: View<Blueprint>,
  files: SourceFiles,
): readonly FoundTemplate[] {
  return executionLists.flatMap(([kind, list]) =>
    (info[list] ?? []).map((executor, i): FoundTemplate => {
      const path = [list, i];
      return { kind, path, executor, source: sourceOf(document, path, executor, files) };
    }),
  );
}

function sourceOf(
  document: YamlText,
  path: Path,
  { template, file = '' }: View<TemplateExecutor>,
  files: SourceFiles,
): Source | undefined {
  if (typeof template === 'string') return document.textAt([...path, 'template'], template);
  if (template === undefined) return file === '' ? undefined : files.source(file);
  const slice = document.sliceAt([...path, 'template']);
  return slice && part(document.source, slice);
}

/** A range of a string as a source of its own. */
function part(outer: Source, { text, offset }: { readonly text: string; readonly offset: number }): Source {
  const first = outer.lineAt(offset);
  const indent = offset - outer.lineStart(first);
  return new Source(outer.file, text, {
    outer,
    offset: (line, column) => outer.lineStart(first + line) + column + (line === 0 ? indent : 0),
  });
}
