// Compiles src/ to dist/ and marks the entry as runnable. Called by `npm run build` and, through `prepare`, by `npm ci` and `npm pack`.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const require = createRequire(import.meta.url);
const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');
try {
  execFileSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json')], { stdio: 'inherit', cwd: root });
} catch {
  console.error('build: the TypeScript compiler reported errors (above); mend them and run `npm run build` again');
  process.exitCode = 1;
}
const entry = join(root, 'dist', 'cli.js');
if (existsSync(entry)) chmodSync(entry, 0o755);
