/** `values.schema.json` means what it means to helm. */
import { expect } from 'chai';
import type { Fields } from '../../../../src/lib/objects.ts';
import { parseYaml } from '../../../../src/lib/yaml.ts';
import { ValuesInvalid } from '../../../../src/templating/helm/errors.ts';
import { chartOfFolder } from '../../../../src/templating/helm/load.ts';
import { checkValues } from '../../../../src/templating/helm/schema.ts';
import { schemaCases } from '../../../support/values-schemas.ts';

const META = 'apiVersion: v2\nname: c\nversion: 1.0.0\n';
const check = (files: Readonly<Record<string, string>>, values: string): void => {
  const all = { 'Chart.yaml': META, ...files };
  const chart = chartOfFolder(new Map(Object.entries(all).map(([name, text]) => [name, Buffer.from(text)])));
  checkValues(chart, parseYaml(values, { integers: 'exact' }) as Fields);
};

describe('the schema of a chart with', () => {
  for (const { title, schema, values, isAccepted } of schemaCases)
    it(`${title}: ${isAccepted ? 'accepted' : 'refused'}`, () => {
      const run = (): void => {
        check({ 'values.schema.json': JSON.stringify(schema) }, values);
      };
      if (isAccepted) run();
      else expect(run).to.throw(ValuesInvalid);
    });

  it('a draft that is not known is refused with the drafts that are', () => {
    const schema = '{"$schema":"http://json-schema.org/draft-05/schema#"}';
    expect(() => {
      check({ 'values.schema.json': schema }, 'a: 1');
    }).to.throw('is not a known draft; use draft 4, 6, 7, 2019-09 or 2020-12');
  });

  it('values of a subchart that are not a map is refused, and without values accepted', () => {
    const files = {
      'charts/s/Chart.yaml': META.replace('name: c', 'name: s'),
      'charts/s/values.schema.json': '{"required":["a"]}',
    };
    for (const values of ['{}', 's: null']) check(files, values);
    expect(() => {
      check(files, 's: 5');
    }).to.throw(ValuesInvalid, 's:\nthe values of the subchart must be a map');
  });
});
