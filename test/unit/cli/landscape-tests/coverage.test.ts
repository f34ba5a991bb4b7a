/** The parts of landscapes that no case has touched. */
import { join } from 'node:path';
import { expect } from 'chai';
import { prepare } from '../../../../src/cli/commands/apply/prepare.ts';
import { coverageLines, coverageOf } from '../../../../src/cli/landscape-tests/coverage/coverage.ts';
import { inventoryOf } from '../../../../src/cli/landscape-tests/coverage/inventory.ts';

const sample = join(import.meta.dirname, '../../../../docs/samples/hello-landscape');

describe('the coverage of landscape tests', () => {
  const linesAfter = async (touched: Parameters<typeof coverageOf>[2]): Promise<readonly string[]> => {
    const { documents } = await prepare([sample], { lint: false });
    return coverageLines(coverageOf('hello', inventoryOf(documents, 'hello'), touched));
  };

  it('lists what no case has touched, in the order of the tree', async () => {
    const started = ['hello-landscape', 'hello-landscape/database'];
    const imports = [
      'hello-landscape cluster',
      'hello-landscape greeting',
      'hello-landscape/database cluster',
    ];
    expect(await linesAfter([{ started, imports, succeeded: ['hello-landscape/database'] }])).to.deep.equal([
      'hello: cases touch 2 of 3 installations, 3 of 6 imports, 2 of 5 templates, 1 of 3 exports',
      '  touched by no case:',
      '    template of hello-landscape: export execution url',
      '    export of hello-landscape: url',
      '    installation hello-landscape/web',
      '    import of hello-landscape/web: cluster',
      '    import of hello-landscape/web: greeting',
      '    import of hello-landscape/web: database',
      '    template of hello-landscape/web: deploy execution default',
      '    template of hello-landscape/web: export execution url',
      '    export of hello-landscape/web: url',
    ]);
  });

  it('adds up over cases', async () => {
    const one = { started: ['hello-landscape'], succeeded: [], imports: [] };
    const other = {
      started: ['hello-landscape/database', 'hello-landscape/web'],
      succeeded: [],
      imports: [],
    };
    const [head] = await linesAfter([one, other]);
    expect(head).to.contain('3 of 3 installations');
  });
});
