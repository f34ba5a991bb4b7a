import { expect } from 'chai';
import { warningsOn, describeFindings } from '../../../../src/blueprint/lint/warnings.ts';
import { blueprint } from '../../dataflow/given.ts';

const advice = (bp: object): string => describeFindings(warningsOn(blueprint(bp)));
const text = { type: 'string' };

describe('what is doubtful about a blueprint', () => {
  const rows: readonly (readonly [string, object, string])[] = [
    [
      'two imports of one name',
      {
        imports: [
          { name: 'a', type: 'data', schema: text },
          { name: 'a', type: 'data', schema: text },
        ],
      },
      'duplicate-name',
    ],
    [
      'a schema beside a target type',
      { imports: [{ name: 'a', type: 'data', schema: text, targetType: 'x' }] },
      'schema-or-target-type',
    ],
    [
      'conditional imports below a required one',
      {
        imports: [
          { name: 'a', type: 'data', schema: text, imports: [{ name: 'b', type: 'data', schema: text }] },
        ],
      },
      'conditional-import',
    ],
    [
      'an execution without a name',
      { deployExecutions: [{ type: 'GoTemplate', template: 'a' }] },
      'execution-name',
    ],
    [
      'two executions of one name',
      {
        deployExecutions: [
          { name: 'd', type: 'GoTemplate', template: 'a' },
          { name: 'd', type: 'GoTemplate', template: 'a' },
        ],
      },
      'execution-name',
    ],
    [
      'a keyword of a later draft',
      { imports: [{ name: 'a', type: 'data', schema: { type: 'object', unevaluatedProperties: false } }] },
      'schema-keyword',
    ],
    [
      'a word that no schema knows, in a local type',
      { localTypes: { t: { tpye: 'string' } } },
      'schema-keyword',
    ],
  ];
  for (const [title, bp, rule] of rows) {
    it(`is ${title}`, () => {
      expect(advice(bp)).to.match(new RegExp(String.raw`^blueprint\.yaml:\d+:\d+: .* \[${rule}\]$`, 's'));
    });
  }

  it('is nothing where all is well, and keywords of a later draft that is named mean something', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      unevaluatedProperties: false,
    };
    const sound = { imports: [{ name: 'a', type: 'data', schema }], jsonSchema: 'x' };
    expect(advice(sound)).to.equal('');
  });

  it('does not depend on what templates and patterns say', () => {
    const schema = { type: 'string', pattern: '(' };
    const broken = {
      imports: [{ name: 'a', type: 'data', schema }],
      deployExecutions: [{ name: 'd', type: 'GoTemplate', template: '{{ broken' }],
    };
    expect(advice(broken)).to.equal('');
  });

  it('is cut to what a status can show', () => {
    const executions = Array.from({ length: 25 }, () => ({ type: 'GoTemplate', template: 'a' }));
    const lines = advice({ deployExecutions: executions }).split('\n');
    expect(lines).to.have.lengthOf(11);
    expect(lines.at(-1)).to.equal('and 15 more');
  });
});
