/** The static checks: the arguments of Node.js for each. */
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const tool = (path: string, ...args: string[]): readonly string[] => [
  join(root, 'node_modules', path),
  ...args,
];
const script = (path: string, ...args: string[]): readonly string[] => [
  '--import',
  'tsx',
  join(root, path),
  ...args,
];

/** The slow ones first, so that the others run in parallel to them. */
export const steps: Readonly<Record<string, readonly string[]>> = {
  // Rules with types keep the types of the whole program.
  lint: [
    '--max-old-space-size=8192',
    ...tool('eslint/bin/eslint.js', 'src', 'controllers', 'deployers', 'web', 'docs/samples', 'test', 'hack'),
  ],
  format: tool('prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', '.'),
  imports: script('hack/check-imports.ts'),
  exports: script('hack/check-exports.ts'),
  phrases: script('hack/banned-phrases.ts'),
  types: tool('typescript7/bin/tsc', '-p', 'tsconfig.json', '--noEmit'),
  webtypes: tool('typescript7/bin/tsc', '-p', 'web/tsconfig.json', '--noEmit'),
  crds: script('hack/update-crds.ts', '--check'),
  schemas: script('hack/update-schemas.ts', '--check'),
  models: script('hack/update-models.ts', '--check'),
  docs: script('hack/update-docs.ts', '--check'),
  mutation: script('hack/mutate/check.ts'),
  node20: script('hack/verify-node20.ts'),
};
