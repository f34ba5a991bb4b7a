import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** `log.warn(fields, message)`, whatever the logger is called: log, this.#log, ports.log, this.#ports.log?.… */
const LOG_CALL =
  'CallExpression[callee.property.name=/^(trace|debug|info|warn|error)$/]' +
  ':matches([callee.object.name=/^log(ger)?$/], [callee.object.property.name=/^(log|logger)$/])';

/** Such a spread exists only to keep several fields in one line, and hides unknown fields from the type checker. */
const NO_SPREAD_LITERALS = [
  'ObjectExpression > SpreadElement > ObjectExpression',
  'ArrayExpression > SpreadElement > ArrayExpression',
].map((selector) => ({ selector, message: 'write the fields or elements without the spread' }));

const WAITING =
  'a busy machine exceeds every limit in real time: use the fake clock, an event, or eventually and inTime of test/support/waiting.ts';

/** Waits that fail on busy machines, or do not say what they have waited for. */
const RAW_WAITS = [
  ["CallExpression[callee.name='sleep'] > Identifier.arguments:first-child[name='systemClock']", WAITING],
  ["VariableDeclarator[init.name='systemClock']", 'name the clock of the machine: systemClock'],
  [
    "Literal[value='--timeout'] + Literal",
    'use timeoutOption of test/support/patience.ts; a timeout that shall pass is a constant with a name',
  ],
  [
    'CallExpression[callee.name=/^(execFile|exec|spawn|fork)(Sync)?$/] Property[key.name="timeout"] > Literal',
    WAITING,
  ],
  [
    ":matches(WhileStatement, ForStatement, DoWhileStatement) CallExpression[callee.name='pause']",
    'a wait says what it waits for: use eventually of test/support/waiting.ts',
  ],
  [
    'WhileStatement > ExpressionStatement.body > AwaitExpression',
    'a wait says what it waits for: use eventually of test/support/waiting.ts',
  ],
].map(([selector, message]) => ({ selector, message }));

/**
 * Tenants write YAML, patterns and values that are small and take long, or stand for gigabytes. These files may read them
 * or write them as text, because a process of its own, a limit, or a user who harms only himself is in front of them.
 */
const WORKERS = [
  'src/templating/**',
  'src/blueprint/**',
  'src/components/**',
  'deployers/helm/repository-index.ts',
];
const PROGRAMS = [
  'src/cli/**',
  'src/apiserver/**',
  'src/testing/**',
  'deployers/container/programs/**',
  'deployers/testing/**',
];
const BOUNDED_YAML = [
  'src/lib/yaml*.ts',
  // The operator's own files, and the definitions of the product.
  'deployers/sdk/settings.ts',
  'src/api/crds.ts',
  'src/runtime/transport/kubeconfig.ts',
  'src/workflow/kubernetes.ts',
];
/** Single fields, names and digests; what is larger is counted there. */
const BOUNDED_JSON = [
  'controllers/journal/record.ts',
  'deployers/container/{names,objects,prepare,sidecar}.ts',
  'deployers/helm/{chart,errors,program-actions,release,target-facts}.ts',
  'deployers/helm/release/{install,repeated-keys,three-way}.ts',
  'deployers/sdk/{kubeconfig,target,tokens}.ts',
  'src/landscape/job-requests.ts',
];

/** In all files of the product. */
const PRODUCT_SYNTAX = [
  ...NO_SPREAD_LITERALS,
  ...[
    'CallExpression[callee.property.name=/^(push|unshift)$/] > SpreadElement',
    "CallExpression[callee.object.name='Math'][callee.property.name=/^(max|min)$/] > SpreadElement",
    "CallExpression[callee.object.name='String'][callee.property.name=/^fromC/] > SpreadElement",
  ].map((selector) => ({
    selector,
    message: 'a long list overflows the stack: use append, largest or smallest of src/lib/lists.ts',
  })),
  {
    selector:
      "CallExpression[callee.property.name='list'][callee.object.property.name=/^(installations|executions|deployItems|dataObjects|targets)$/]",
    message:
      'a tenant determines how many objects this reads: use byIndex or keysByIndex, or say why it is bounded',
  },
  {
    selector:
      "Program > :matches(VariableDeclaration, ExportNamedDeclaration > VariableDeclaration) > VariableDeclarator[init.type='ObjectExpression'][id.typeAnnotation.typeAnnotation.typeArguments.params.0.typeArguments.params.0.type='TSStringKeyword']",
    message:
      'such a table also has the names of Object.prototype, which may come from outside: use table of src/lib/objects.ts',
  },
  {
    selector: 'Literal[regex.pattern=/(^|[|])(.|\\\\.|\\[[^\\]]+\\])[+*]\\$$/]',
    message:
      'it begins at each character, which takes quadratic time: use trimmedEnd or trimmedEnds of src/lib/trim.ts',
  },
  ...['TemplateLiteral[expressions.length>0]', 'BinaryExpression', 'Identifier'].map((selector) => ({
    selector: `${LOG_CALL} > ${selector}.arguments:nth-child(2)`,
    message: 'a log message is a constant string: put everything variable into the fields',
  })),
  {
    selector: `${LOG_CALL} > ObjectExpression > Property[key.name='error']`,
    message: 'the field of an error in a log line is called err',
  },
  {
    selector: `${LOG_CALL} > Literal.arguments:nth-child(2)[value=/^[A-Z][a-z]+ |\\.$/]`,
    message: 'a log message is lower case and has no full stop',
  },
];

/** Users copy commands from messages; examples and descriptions on help pages name the program instead. */
const COMMANDS_IN_MESSAGES = [
  ['Literal', 'value'],
  ['TemplateElement', 'value.raw'],
].map(([node, attribute]) => ({
  selector: `${node}[${attribute}=/(?:[:|]|\\brun) espalier [a-z]/]:not(CallExpression[callee.name='examples'] *):not(CallExpression[callee.property.name='description'] *)`,
  message: 'the user may have started the program in another way: use selfCommand of src/cli/self-command.ts',
}));

const TEST_SYNTAX = [
  ...NO_SPREAD_LITERALS,
  ...['Identifier[name=/^(it|describe|test)$/]', 'ThisExpression'].map((object) => ({
    selector: `CallExpression > MemberExpression[property.name='skip'] > ${object}.object`,
    message: 'Give the reason: skip() or leftOut() of test/support/skip.ts.',
  })),
];

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'crds/', '.cache/', '**/*.cjs', '**/*.mjs', 'eslint.config.js'] },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  ...tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // A switch is one question, however many answers it has.
      complexity: ['error', { max: 20, variant: 'modified' }],
      'max-depth': ['error', 4],
      // Readers of YAML, URLs and terminals have to name control characters.
      'no-control-regex': 'off',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-console': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-invalid-void-type': ['error', { allowAsThisParameter: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // The index signatures of JSON are what they are.
      '@typescript-eslint/no-unnecessary-condition': 'off',
      '@typescript-eslint/prefer-nullish-coalescing': 'off',
      '@typescript-eslint/dot-notation': 'off',
      '@typescript-eslint/non-nullable-type-assertion-style': 'off',
      '@typescript-eslint/no-dynamic-delete': 'off',
      '@typescript-eslint/no-empty-function': 'off',
      '@typescript-eslint/no-unnecessary-type-arguments': 'off',
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      '@typescript-eslint/no-meaningless-void-operator': 'off',
      // Code points are what Kubernetes and Go count.
      '@typescript-eslint/no-misused-spread': ['error', { allow: ['string'] }],
      // Node's own declarations hand out interfaces where its classes are meant.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/only-throw-error': ['error', { allowThrowingUnknown: true }],
    },
  },
  {
    files: ['src/**', 'controllers/**', 'deployers/**', 'hack/**', 'web/**'],
    rules: {
      // Who has to scroll to understand a file or a function looks for the concepts in it, and gives each a place.
      'max-lines': ['error', 350],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
    },
  },
  // Generated: a type for each part of the kinds of Kubernetes.
  { files: ['src/runtime/core-models.ts'], rules: { 'max-lines': 'off' } },
  {
    files: ['src/**', 'controllers/**', 'deployers/**'],
    ignores: ['src/lib/clock.ts', 'src/lib/rng.ts', 'src/cli/**'],
    rules: {
      'no-restricted-globals': ['error', 'setTimeout', 'setInterval'],
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: 'time is injected: use a Clock' },
        { object: 'Math', property: 'random', message: 'chance is injected: use an Rng' },
      ],
    },
  },
  {
    files: ['src/**', 'controllers/**', 'deployers/**'],
    rules: {
      'no-restricted-syntax': ['error', ...PRODUCT_SYNTAX],
    },
  },
  {
    files: ['src/cli/**'],
    // Its messages are shown in browsers, whose users start the program on their own machines; headers of files are not commands.
    ignores: ['src/cli/console/**', 'src/cli/landscape-tests/expect/snapshot.ts'],
    rules: { 'no-restricted-syntax': ['error', ...PRODUCT_SYNTAX, ...COMMANDS_IN_MESSAGES] },
  },
  {
    files: ['src/**', 'controllers/**', 'deployers/**'],
    ignores: [...WORKERS, ...PROGRAMS, ...BOUNDED_YAML],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths: [
            {
              name: 're2js',
              message: 'patterns are compiled and matched in workers: use match-names.ts of src/blueprint',
            },
          ],
          patterns: [
            {
              group: ['**/lib/yaml.ts'],
              importNames: ['parseYaml'],
              message: 'YAML of tenants is read in workers or by parseBoundedYaml of src/lib/yaml-texts.ts',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['controllers/**', 'deployers/**', 'src/dataflow/**', 'src/landscape/**', 'src/machine/**'],
    ignores: [...PROGRAMS, ...BOUNDED_JSON],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: 'time is injected: use a Clock' },
        { object: 'Math', property: 'random', message: 'chance is injected: use an Rng' },
        {
          object: 'JSON',
          property: 'stringify',
          message:
            'values of tenants are large: count them in a worker, or name the file in eslint.config.js with what bounds it',
        },
      ],
    },
  },
  {
    // Beginnings, whose functions will wait for something when they are filled in.
    files: ['docs/samples/**'],
    rules: {
      '@typescript-eslint/require-await': 'off',
      'no-restricted-syntax': ['error', ...NO_SPREAD_LITERALS],
    },
  },
  {
    files: ['test/**', 'hack/**'],
    rules: {
      'no-console': 'off',
      '@typescript-eslint/no-unused-expressions': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/require-await': 'off',
      // Harnesses are objects of functions that do without `this`, and are taken apart.
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/no-empty-function': 'off',
      'no-restricted-syntax': ['error', ...TEST_SYNTAX],
    },
  },
  {
    files: ['test/**'],
    // Measurements, programs of their own, and a cluster that knows only real time.
    ignores: [
      'test/support/{waiting,skipping-clock}.ts',
      'test/support/{besieged,flaky-proxy}.ts',
      'test/unit/lib/clock.test.ts',
      'test/faults/**',
      'test/attacks/{console,webhooks,servers}.test.ts',
      'test/attacks/stage/**',
      'test/bench/**',
      'test/node/**',
      'test/simulation/main.ts',
    ],
    rules: {
      'no-restricted-syntax': ['error', ...TEST_SYNTAX, ...RAW_WAITS],
      'no-restricted-globals': [
        'error',
        ...['setTimeout', 'setInterval'].map((name) => ({ name, message: WAITING })),
      ],
      'no-restricted-imports': [
        'error',
        {
          paths: ['timers', 'node:timers', 'timers/promises', 'node:timers/promises'].map((name) => ({
            name,
            message: WAITING,
          })),
        },
      ],
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: 'for a time of today use systemClock.wall()' },
        ...[
          ['performance', 'now'],
          ['process', 'hrtime'],
          ['systemClock', 'now'],
          ['systemClock', 'at'],
          ['AbortSignal', 'timeout'],
        ].map(([object, property]) => ({ object, property, message: WAITING })),
      ],
    },
  },
  {
    // What a server answers is JSON, and its shape is what these tests are about.
    files: ['test/clients/**', 'test/conformance/**', 'test/e2e/**', 'test/support/wire-client.ts'],
    rules: {
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
);
