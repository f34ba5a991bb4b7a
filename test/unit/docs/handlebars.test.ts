/** Compares the page about Handlebars with its sample, and the sample with the same templates in Go's language. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { renderDeployItems } from '../../../src/blueprint/deployitems.ts';
import { loadInlineBlueprint } from '../../../src/blueprint/load.ts';
import { blueprintFilesIn } from '../../../src/cli/commands/blueprints/sources.ts';
import { inlineFilesystemOf } from '../../../src/lib/file-tree.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';
import { context } from '../dataflow/given.ts';

const docs = join(import.meta.dirname, '../../../docs');
const folder = join(docs, 'samples/handlebars/blueprint');
const page = readFileSync(join(docs, 'templating-handlebars.md'), 'utf8');
const services = [{ name: 'shop', port: 8080 }, { name: 'search' }, { name: 'mail', port: 25 }];

async function items(type: string, file: string): Promise<unknown> {
  const files = inlineFilesystemOf(await blueprintFilesIn(folder));
  const document = parseYaml(files['blueprint.yaml'] as string) as { deployExecutions: object[] };
  const deployExecutions = [{ ...document.deployExecutions[0], type, file }];
  const loaded = loadInlineBlueprint({ ...files, 'blueprint.yaml': { ...document, deployExecutions } });
  const none = { namespace: 'demo', targets: new Map(), targetLists: new Map(), targetMaps: new Map() };
  return renderDeployItems(context(loaded, { services }), none);
}

describe('the page about Handlebars', () => {
  for (const file of ['deploy.hbs', 'parts/service.hbs', 'deploy.gotmpl', 'parts/service.gotmpl']) {
    it(`shows the sample unchanged: ${file}`, () => {
      expect(page).to.contain(readFileSync(join(folder, file), 'utf8'));
    });
  }

  it('compares templates that render the same deploy items', async () => {
    const made = await items('Handlebars', '/deploy.hbs');
    expect(made).to.deep.equal(await items('GoTemplate', '/deploy.gotmpl'));
    expect(made).to.have.length(3);
    expect(made).to.have.deep.nested.property('[1].config.providerStatus', {
      url: 'http://search:80',
      title: 'Search',
    });
    expect(made).to.have.deep.nested.property('[2].dependsOn', ['search']);
  });
});
