// Rules that catch bugs, with types; and the import borders of ARCHITECTURE.md, one block per folder, from test/layers.json.
import { readFileSync } from 'node:fs';
import tseslint from 'typescript-eslint';

/** @type {Record<string, { imports: string[], types: string[], pure?: boolean }>} */
const layers = JSON.parse(readFileSync(new URL('./test/layers.json', import.meta.url), 'utf8'));
const folders = Object.keys(layers).filter((name) => name !== 'comment');

/** The only files that may end the process or read its command line. */
const entries = ['src/cli.ts', 'src/system/main.ts', 'src/lab/role-main.ts', 'src/lab/inproc-worker.ts', 'src/load/main.ts', 'src/stack/local/reaper-main.ts', 'src/stack/containers/sweep-main.ts', 'src/bench/main.ts'];
const tests = ['**/*.test.ts', '**/*.test.tsx', '**/*.test-support.ts', 'test/**'];

/** Imports climb out of their folder by `../`, so the first name after the climb is the layer. */
function borderOf(folder) {
  const { imports, types, pure } = layers[folder];
  const patterns = [];
  const closed = folders.filter((other) => other !== folder && !imports.includes(other) && !types.includes(other));
  if (closed.length > 0) {
    patterns.push({ regex: `^(\\.\\./)+(${closed.join('|')})/`, message: `src/${folder} may import only: ${[folder, ...imports].join(', ')}.` });
  }
  if (types.length > 0) {
    patterns.push({ regex: `^(\\.\\./)+(${types.join('|')})/`, allowTypeImports: true, message: `src/${folder} may import types only from: ${types.join(', ')}.` });
  }
  if (pure === true) patterns.push({ regex: '^[^.]', message: `src/${folder} does no I/O and uses no package.` });
  return {
    files: [`src/${folder}/**/*.ts`, `src/${folder}/**/*.tsx`],
    ignores: tests,
    rules: { '@typescript-eslint/no-restricted-imports': ['error', { patterns }] },
  };
}

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'reports/', 'coverage/', 'vitest.config.ts'] },
  { files: ['**/*.ts', '**/*.tsx'], extends: [...tseslint.configs.strictTypeChecked, ...tseslint.configs.stylisticTypeChecked] },
  {
    files: ['**/*.ts', '**/*.tsx'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      // `== null` is the one loose comparison that says what it means.
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-control-regex': 'error',
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'exit', message: 'Only an entry ends the process; return a code or throw a LabError.' },
        { object: 'process', property: 'argv', message: 'Only an entry reads the command line.' },
      ],
      // A promise dropped by accident is a crash later or a lost write; one dropped on purpose says `void` and must not reject.
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrors: 'none', ignoreRestSiblings: true }],
      // Index signatures are read by brackets: tsconfig says noPropertyAccessFromIndexSignature.
      '@typescript-eslint/dot-notation': ['error', { allowIndexSignaturePropertyAccess: true }],
      // Churn without bugs behind it.
      '@typescript-eslint/consistent-type-definitions': 'off',
      '@typescript-eslint/prefer-nullish-coalescing': ['error', { ignorePrimitives: { string: true, boolean: true } }],
      '@typescript-eslint/array-type': 'off',
      '@typescript-eslint/no-inferrable-types': 'off',
      '@typescript-eslint/class-literal-property-style': 'off',
      '@typescript-eslint/unified-signatures': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      // An async method may satisfy a port without awaiting; a callback that returns a promise where void is wanted may not.
      '@typescript-eslint/no-misused-promises': 'error',
    },
  },
  ...folders.map(borderOf),
  { files: entries, rules: { 'no-restricted-properties': 'off' } },
  {
    files: tests,
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-empty-function': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
);
