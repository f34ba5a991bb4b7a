/**
 * Compares the installed objects with recorded ones, so that an update of Espalier changes no field by accident. After
 * an intended change, edit the files in test/fixtures/install.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { wordsFor } from '../../../../src/cli/commands/install/names.ts';
import { productObjects } from '../../../../src/cli/commands/install/objects.ts';
import { settingsFrom, type InstallOptions } from '../../../../src/cli/commands/install/settings.ts';
import { parseYaml, toYaml } from '../../../../src/lib/yaml.ts';
import type { Obj } from '../../../../src/runtime/types.ts';

const fixtures = join(import.meta.dirname, '../../../fixtures/install');

const cases: Readonly<Record<string, Partial<InstallOptions>>> = {
  default: {},
  everything: {
    webhooks: true,
    replicas: 3,
    namespace: 'own',
    pullSecret: 'login',
    metricsFrom: ['monitoring', 'ops'],
    config: join(fixtures, 'config.yaml'),
  },
  'manifest-only': { deployers: ['manifest', 'mock'] },
  separate: { set: ['deployments=separate'], replicas: 3 },
  'one-namespace': { deployers: ['helm', 'container'], config: join(fixtures, 'health.yaml') },
};

/** The objects as text, keyed by kind and name: the order has no meaning. */
const byName = (objects: readonly Obj[]): Readonly<Record<string, string>> =>
  Object.fromEntries(objects.map((object) => [wordsFor(object), toYaml(object)]));

describe('the recorded objects of an installation', () => {
  for (const [name, options] of Object.entries(cases))
    it(`equal those that install creates: ${name}`, () => {
      const settings = settingsFrom({
        image: 'registry.example.org/espalier:0.1.0',
        namespace: 'ls-system',
        crds: true,
        allNamespaces: true,
        ...options,
      });
      const documents = readFileSync(join(fixtures, `${name}.yaml`), 'utf8').split('\n---\n');
      const recorded = documents.map((text) => parseYaml(text) as Obj);
      const wanted = byName(recorded);
      const found = byName(productObjects(settings));
      expect(Object.keys(found)).to.have.members(Object.keys(wanted));
      for (const [words, text] of Object.entries(wanted)) expect(found[words], words).to.equal(text);
    });
});
