// What version strings mean, and that the versions in code and in the tracked pom are the same.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { KAFKA_VERSION } from '../cache-folder.js';
import { packageRoot } from '../local/built-entry.js';
import { majorOf } from './find-java.js';
import { buildableVersion } from './toxiproxy.js';

it.each([['17.0.15', 17], ['1.8.0_392', 8], ['21', 21], ['24-ea+3', 24], ['11.0.2', 11]])('Java %s is %i', (version, major) => {
  expect(majorOf(version)).toBe(major);
});

it.each([
  ['go version go1.19.8 linux/amd64', '2.8.0'],
  ['go version go1.22.12 linux/amd64', '2.8.0'],
  ['go version go1.23.0 linux/arm64', '2.12.0'],
  ['go version go1.26.8 linux/amd64', '2.12.0'],
  ['something else', '2.8.0'],
])('%s builds Toxiproxy %s', (text, version) => {
  expect(buildableVersion(text)).toBe(version);
});

it('the pom resolves the version of Kafka that the code looks for', () => {
  const pom = readFileSync(join(packageRoot, 'kafka', 'pom.xml'), 'utf8');
  expect(/<artifactId>kafka_2\.13<\/artifactId>\s*<version>([^<]+)</.exec(pom)?.[1]).toBe(KAFKA_VERSION);
});
