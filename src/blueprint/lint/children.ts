/** Finds the sub-installations in a blueprint or in files beside it. */
import { append } from '../../lib/lists.ts';
import { SubInstallationsInvalid } from '../errors.ts';
import type { LoadedBlueprint } from '../load.ts';
import { fileOf, staticTemplate } from '../templates.ts';
import { readTemplate } from './document.ts';
import type { Finding } from './finding.ts';
import type { SourceFiles } from './source-files.ts';
import type { Child, Subject } from './subject.ts';
import type { YamlText } from './yaml-text.ts';

/** Entries that cannot be read are omitted; other findings are about their documents. */
export function findChildren(
  document: YamlText,
  blueprint: LoadedBlueprint,
  files: SourceFiles,
): {
  readonly children: readonly Child[];
  readonly unreadable: Subject['unreadable'];
  readonly findings: readonly Finding[];
} {
  const findings: Finding[] = [];
  const unreadable: Subject['unreadable'][number][] = [];
  const children = (blueprint.info.subinstallations ?? []).flatMap((entry, index): readonly Child[] => {
    const file = fileOf(entry, index);
    const source = file === '' ? undefined : files.source(file);
    if (file !== '' && !source) return [];
    const read = source && readTemplate(source);
    if (read) append(findings, read.findings);
    if (read && !read.readable) return [];
    try {
      const template = staticTemplate(entry, index, blueprint);
      const own = read?.readable?.document ?? document.below(['subinstallations', index]);
      return [{ index, document: own, template }];
    } catch (error) {
      if (!(error instanceof SubInstallationsInvalid)) throw error;
      unreadable.push({ index, why: error.message });
      return [];
    }
  });
  return { children, unreadable, findings };
}
