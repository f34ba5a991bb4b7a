/** The JSON Schemas for editors accept what the repository contains, and refuse typos. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import { expect } from 'chai';
import { GROUP } from '../../../src/api/labels.ts';
import { isObject, ownField } from '../../../src/lib/objects.ts';
import { parseYamlAll } from '../../../src/lib/yaml.ts';
import { schemas } from '../../../src/cli/schemas/catalogue.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { fakeTerminal } from './terminal.ts';

const root = join(import.meta.dirname, '../../..');
const ajv = new Ajv({ strict: false, allErrors: true });
formats.default(ajv);
const validators = new Map<string, ValidateFunction>();

function findings(name: string, document: unknown): readonly string[] {
  const schema = schemas.find((entry) => entry.name === name)?.schema;
  if (!schema) throw new Error(`there is no schema ${name}`);
  const validate = validators.get(name) ?? ajv.compile(schema);
  validators.set(name, validate);
  validate(document);
  return (validate.errors ?? []).map(
    ({ instancePath, message = '', params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}

const configurations: Readonly<Record<string, string>> = Object.fromEntries(
  ['manifest', 'helm', 'container', 'mock'].map((name) => [`${name}.deployer.${GROUP}`, name]),
);

/** The schema for a document; undefined: none is for it. */
function schemaFor(document: unknown, file: string): string | undefined {
  if (file.endsWith('component.yaml')) return 'component';
  const [group = ''] = String(ownField(document, 'apiVersion')).split('/');
  const kind = ownField(document, 'kind');
  if (kind === 'ProviderConfiguration') return configurations[group];
  if (group !== GROUP) return undefined;
  if (kind === 'Blueprint') return 'blueprint';
  if (kind === 'InstallationTemplate') return 'installationtemplate';
  return kind === 'LandscaperConfiguration' ? 'configuration' : 'objects';
}

const inlineBlueprint = (document: unknown): unknown => {
  let value = document;
  for (const key of ['spec', 'blueprint', 'inline', 'filesystem', 'blueprint.yaml'])
    value = ownField(value, key);
  return value;
};

const check = (file: string, text: string): readonly string[] =>
  parseYamlAll(text).flatMap((document) => {
    const name = schemaFor(document, file);
    const inline = inlineBlueprint(document);
    return [
      ...(name === undefined ? [] : findings(name, document).map((found) => `${file}: ${name}: ${found}`)),
      ...(typeof inline === 'string' ? check(`${file} (inline)`, inline) : []),
    ];
  });

describe('JSON Schemas for editors', () => {
  it('every sample and skeleton is valid', () => {
    const folder = join(root, 'docs/samples');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.yaml') && !file.includes('templates/'),
    );
    expect(files).to.have.length.greaterThan(20);
    expect(files.flatMap((file) => check(file, readFileSync(join(folder, file), 'utf8')))).to.deep.equal([]);
  });

  it('every object on the pages of the documentation is valid', () => {
    const folder = join(root, 'docs');
    const problems = readdirSync(folder)
      .filter((file) => file.endsWith('.md'))
      .flatMap((file) => {
        const page = readFileSync(join(folder, file), 'utf8');
        return [...page.matchAll(/^```yaml\n(apiVersion: (?:[a-z]+\.deployer\.)?landscaper[^`]*)^```$/gm)]
          .map(([, block = '']) => block)
          .filter((block) => /^(?:spec|data):|ProviderConfiguration/m.test(block) && !/[{]{2}|…/.test(block))
          .flatMap((block) => check(file, block));
      });
    expect(problems).to.deep.equal([]);
  });

  const head = { apiVersion: `${GROUP}/v1alpha1`, metadata: { name: 'a' } };
  const blueprint = { apiVersion: `${GROUP}/v1alpha1`, kind: 'Blueprint' };
  const typos: readonly (readonly [string, object, string])[] = [
    ['blueprint', { ...blueprint, deployExecution: [] }, 'deployExecution'],
    ['blueprint', { ...blueprint, imports: [{ name: 'a', typ: 'data' }] }, 'typ'],
    ['blueprint', { ...blueprint, imports: [{ name: 'a', type: 'dta' }] }, '/imports/0/type'],
    ['blueprint', { ...blueprint, deployExecutions: [{ type: 'GoTmpl' }] }, '/deployExecutions/0/type'],
    ['installation', { ...head, kind: 'Installation', spec: { blueprint: {}, import: {} } }, 'import'],
    ['objects', { ...head, kind: 'Target', spec: { typ: 'a' } }, 'typ'],
    ['target', { ...head, kind: 'Target', metadata: { nme: 'a' }, spec: { type: 'a' } }, 'nme'],
    ['component', { name: 'example.org/a', version: '1.0.0', resource: [] }, 'resource'],
    ['configuration', { controllers: { installation: { workers: 3 } } }, 'installation'],
    ['manifest', { updateStrategy: 'ptch' }, '/updateStrategy'],
    ['helm', { chart: { reff: 'a' } }, 'reff'],
    ['container', { imge: 'a' }, 'imge'],
    ['mock', { exports: {} }, 'exports'],
  ];
  for (const [name, document, mentioned] of typos) {
    it(`${name}: refuses a typo at ${mentioned}`, () => {
      expect(findings(name, document).join('\n')).to.include(mentioned);
    });
  }

  it('accepts values that a cluster adds to an object', () => {
    const metadata = { name: 'a', uid: 'b', resourceVersion: '1', managedFields: [] };
    const target = { ...head, kind: 'Target', metadata, spec: { type: 'a', config: { any: 1 } } };
    expect(findings('target', target)).to.deep.equal([]);
  });

  it('every field has a description', () => {
    const missing: string[] = [];
    const visit = (node: unknown, path: string): void => {
      if (!isObject(node)) return;
      for (const [field, schema] of Object.entries(isObject(node['properties']) ? node['properties'] : {})) {
        const here = `${path}.${field}`;
        if (typeof ownField(schema, 'description') !== 'string') missing.push(here);
        visit(schema, here);
      }
      visit(node['items'], `${path}[]`);
      for (const option of Array.isArray(node['anyOf']) ? node['anyOf'] : []) visit(option, path);
    };
    for (const { name, schema } of schemas) if (name !== 'configuration') visit(schema, name);
    expect(missing).to.deep.equal([]);
  });

  it('espalier schemas lists and prints them, and knows names that are nearly right', async () => {
    const list = fakeTerminal();
    expect(await runProgram(['schemas'], list)).to.equal(0);
    expect(list.output).to.match(/^blueprint {2,}blueprint\.yaml/);
    const one = fakeTerminal();
    expect(await runProgram(['schemas', 'Target'], one)).to.equal(0);
    expect(JSON.parse(one.output)).to.have.property('title', 'Target');
    const wrong = fakeTerminal();
    expect(await runProgram(['schemas', 'bluprint'], wrong)).to.equal(2);
    expect(wrong.errors).to.include('there is no schema "bluprint"; did you mean "blueprint"?');
  });

  it('are files, of which the one for all kinds refers to the others', () => {
    const files = new Ajv({ strict: false, validateFormats: false });
    const read = (file: string): object =>
      JSON.parse(readFileSync(join(root, 'schemas', file), 'utf8')) as object;
    for (const { name } of schemas.filter((entry) => entry.name !== 'objects'))
      files.addSchema(read(`${name}.json`), `${name}.json`);
    const validate = files.compile(read('objects.json'));
    const target = {
      apiVersion: `${GROUP}/v1alpha1`,
      kind: 'Target',
      metadata: { name: 'a' },
      spec: { type: 'x' },
    };
    expect(validate(target)).to.equal(true);
    expect(validate({ ...target, spec: { typ: 'x' } })).to.equal(false);
  });
});
