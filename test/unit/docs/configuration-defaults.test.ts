import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { defaults, readConfiguration } from '../../../src/cli/configuration/configuration.ts';
import { toYaml } from '../../../src/lib/yaml.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/configuration.md'), 'utf8');

/** The modules that use these keys have the default themselves, so that it is not in `defaults`. */
const ELSEWHERE =
  /^(signatureVerificationEnforcementPolicy|templating\..*|helm\.chartCacheSize|limits\.(target|host)Response.*|limits\.downloadMiB)$/;

/** Keys whose default is a literal, such as `10s` or 30. */
const literals = [...page.matchAll(/^\| `([\w.]+)` \| .* \| `?([\w.:/-]+)`? \|$/gm)].flatMap(
  ([, key = '', value = '']) =>
    value === 'none' || value === 'off' || ELSEWHERE.test(key) ? [] : [[key, value] as const],
);

describe('the documented default of', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-defaults-'));
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  /** What a configuration with only this key means. */
  const meaningOf = (key: string, value: string) => {
    const parsed = /^\d+$/.test(value)
      ? Number(value)
      : value === 'true' || (value === 'false' ? false : value);
    const document = key.split('.').reduceRight<unknown>((inner, part) => ({ [part]: inner }), parsed);
    const file = join(folder, 'configuration.yaml');
    const head = {
      apiVersion: 'config.landscaper.gardener.cloud/v1alpha1',
      kind: 'LandscaperConfiguration',
    };
    writeFileSync(file, toYaml({ ...head, ...(document as object) }));
    return readConfiguration(file);
  };

  it('most keys is a literal', () => {
    expect(literals.length).to.be.greaterThan(20);
  });

  for (const [key, value] of literals)
    it(`${key} is what a file without it means`, () => {
      expect(meaningOf(key, value)).to.deep.equal(defaults);
    });
});
