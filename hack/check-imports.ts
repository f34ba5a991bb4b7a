/**
 * Checks the import rules of .dependency-cruiser.cjs. First plants a violation of each rule in a copy of the tree,
 * to prove that the rule detects it: a checker that reads no files would report no violations either.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cruise, type IForbiddenRuleType } from 'dependency-cruiser';

const root = join(import.meta.dirname, '..');
const require = createRequire(import.meta.url);
const config = require(join(root, '.dependency-cruiser.cjs')) as {
  forbidden: IForbiddenRuleType[];
  options: Record<string, unknown>;
};

/** For each rule: a file that breaks it, and the forbidden import. */
const violations: Readonly<Record<string, { readonly file: string; readonly imports: string }>> = {
  'src-is-a-library': { file: 'src/runtime/planted.ts', imports: '../../controllers/execution/intake.ts' },
  'runtime-knows-no-landscaper': { file: 'src/runtime/planted.ts', imports: '../api/labels.ts' },
  'phases-are-pure': {
    file: 'controllers/execution/phases/planted.ts',
    imports: '../../../src/machine/apply.ts',
  },
  'phases-take-no-packages': { file: 'controllers/execution/phases/planted.ts', imports: 'node:fs' },
  'domain-takes-no-client': { file: 'src/dataflow/planted.ts', imports: '../runtime/transport/client.ts' },
  'controllers-are-strangers': {
    file: 'controllers/execution/planted.ts',
    imports: '../installation/job.ts',
  },
  'deployers-meet-in-the-sdk': {
    file: 'deployers/mock/planted.ts',
    imports: '../../controllers/execution/intake.ts',
  },
  'sdk-is-a-contract': { file: 'deployers/sdk/planted.ts', imports: '../objects/exports.ts' },
  'client-node-in-one-place': { file: 'src/cli/planted.ts', imports: '@kubernetes/client-node' },
  'runtime-is-light': { file: 'src/runtime/planted.ts', imports: 'fastify' },
  'test-kit-only-in-tests': { file: 'src/runtime/planted.ts', imports: '../testing/violation.ts' },
  'layer-testing': { file: 'src/testing/planted.ts', imports: '../api/labels.ts' },
  'no-cycles': { file: 'src/lib/planted.ts', imports: './planted.ts' },
  'layer-lib': { file: 'src/lib/planted.ts', imports: '../observability/log.ts' },
  'layer-observability': { file: 'src/observability/planted.ts', imports: '../runtime/errors.ts' },
  'layer-apiserver': { file: 'src/apiserver/planted.ts', imports: '../api/labels.ts' },
  'layer-api': { file: 'src/api/planted.ts', imports: '../observability/log.ts' },
  'layer-templating': { file: 'src/templating/planted.ts', imports: '../blueprint/errors.ts' },
  'layer-components': { file: 'src/components/planted.ts', imports: '../templating/errors.ts' },
  'layer-blueprint': { file: 'src/blueprint/planted.ts', imports: '../dataflow/scope.ts' },
  'layer-dataflow': { file: 'src/dataflow/planted.ts', imports: '../observability/log.ts' },
  'layer-runtime': { file: 'src/runtime/planted.ts', imports: '../workflow/dag.ts' },
  'layer-workflow': { file: 'src/workflow/planted.ts', imports: '../api/labels.ts' },
  'layer-webhooks': { file: 'src/webhooks/planted.ts', imports: '../machine/apply.ts' },
  'layer-machine': { file: 'src/machine/planted.ts', imports: '../landscape/tree.ts' },
  'layer-landscape': { file: 'src/landscape/planted.ts', imports: '../dataflow/scope.ts' },
};

const SOURCES = ['src', 'controllers', 'deployers'];

async function run(baseDir: string, paths: readonly string[]) {
  const { output } = await cruise(
    [...paths],
    { ...config.options, baseDir, validate: true, ruleSet: { forbidden: config.forbidden } },
    undefined,
    { tsConfig: { options: {} } },
  );
  if (typeof output === 'string') throw new Error('the checker printed a string');
  return output.summary;
}

function copyOfTree(): string {
  const copy = mkdtempSync(join(tmpdir(), 'espalier-imports-'));
  for (const path of [...SOURCES, 'package.json', 'tsconfig.json']) {
    cpSync(join(root, path), join(copy, path), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

async function bites(rule: string, copy: string): Promise<boolean> {
  const planted = violations[rule];
  if (!planted) return false;
  const file = join(copy, planted.file);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `import * as planted from '${planted.imports}';\nexport const it = planted;\n`);
  const { violations: found } = await run(copy, [planted.file]);
  rmSync(file);
  return found.some((v) => v.rule.name === rule && v.from === planted.file);
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const ineffective: string[] = [];
const copy = copyOfTree();
try {
  for (const { name = '' } of config.forbidden) if (!(await bites(name, copy))) ineffective.push(name);
} finally {
  rmSync(copy, { recursive: true, force: true });
}
if (ineffective.length > 0) {
  say(`import rules that do not detect a violation: ${ineffective.join(', ')}`);
  process.exit(1);
}
const summary = await run(root, SOURCES);
for (const { rule, from, to } of summary.violations) say(`${rule.name}: ${from} must not import ${to}`);
say(
  `import rules: ${String(config.forbidden.length)} verified, ${String(summary.totalCruised)} files checked, ${String(summary.violations.length)} violations`,
);
process.exit(summary.totalCruised === 0 || summary.violations.length > 0 ? 1 : 0);
