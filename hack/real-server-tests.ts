/**
 * Which test files do something else if a real kube-apiserver is given: those that read its kubeconfig or start a control
 * plane, themselves or in a module of test that they import. All others have run elsewhere.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const USES = [/\bESPALIER_TEST_KUBECONFIG\b/, /\bfunction startEnvtest\b/];
const IMPORTS = /\b(?:from|import\() ?'(\.{1,2}\/[^']+\.ts)'/g;

/** @param file path of a test, absolute or below the working directory */
export function usesRealServer(file: string): boolean {
  const reached = new Set([file]);
  // An iteration over a set also reaches what is added meanwhile.
  for (const each of reached) {
    const source = readFileSync(each, 'utf8');
    if (USES.some((use) => use.test(source))) return true;
    for (const [, path = ''] of source.matchAll(IMPORTS)) {
      const imported = join(dirname(each), path);
      // Strings of tests also contain imports, of files that do not exist.
      if (/(^|\/)test\//.test(imported) && existsSync(imported)) reached.add(imported);
    }
  }
  return false;
}
