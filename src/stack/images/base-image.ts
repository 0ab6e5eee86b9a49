/**
 * The base of all stand-ins: a minimal Debian with Debian's own packages, by debootstrap, from whatever mirror this machine's apt is set up with.
 * Made once and kept in the cache as one archive, so that an engine with an empty data folder gets it in seconds.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { LabError } from '../../facts/lab-error.js';
import { findOnPath } from '../dependencies/search-path.js';
import { packageRoot } from '../local/built-entry.js';
import type { Workshop } from '../workshop.js';

export interface DebianSource {
  /** `bookworm`. */
  readonly release: string;
  /** From apt's own configuration: never written anywhere but into the call. */
  readonly mirror: string;
}

const PACKAGES_FILE = join(packageRoot, 'images', 'base', 'packages.txt');

export function basePackages(): string[] {
  return readFileSync(PACKAGES_FILE, 'utf8').split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

/** LabError MISSING_DEPENDENCY where this is no Debian, no root, or debootstrap is not installed. */
export function debianSource(): DebianSource {
  const mend = 'apt-get install debootstrap, as root on Debian; or use official images with --image';
  if (process.getuid?.() !== 0) throw new LabError('MISSING_DEPENDENCY', 'the base of the images is made by debootstrap, which needs root', mend);
  if (findOnPath('debootstrap') === null) throw new LabError('MISSING_DEPENDENCY', 'debootstrap is not installed', mend);
  const release = /^VERSION_CODENAME=(\S+)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1];
  const targets = execFileSync('apt-get', ['indextargets', '--format', '$(RELEASE) $(COMPONENT) $(REPO_URI)'], { encoding: 'utf8' });
  const mirror = targets.split('\n').map((line) => line.split(' ')).find(([name, component]) => name === release && component === 'main')?.[2];
  if (release === undefined || mirror === undefined) throw new LabError('MISSING_DEPENDENCY', 'the mirror of this Debian is not in the configuration of apt', 'apt-get update, then run the command again');
  return { release, mirror };
}

/** Where the archive of a base is kept; its name says what is in it. */
export function baseArchive(cache: string, release: string): string {
  const recipe = createHash('sha256').update(`${release}\n${SCRIPT}\n${readFileSync(PACKAGES_FILE, 'utf8')}`).digest('hex').slice(0, 12);
  return join(cache, `image-base-${release}-${recipe}.tar`);
}

/** Mounts of a space of its own vanish with the process, however it ends. The configuration of apt is lent for the time of the installation. */
const SCRIPT = `set -eu
root=$1; shift
release=$1; shift
mirror=$1; shift
debootstrap --variant=minbase "$release" "$root" "$mirror"
rm -rf "$root/etc/apt.own"; mv "$root/etc/apt" "$root/etc/apt.own"; cp -a /etc/apt "$root/etc/apt"
cp /etc/resolv.conf "$root/etc/resolv.conf"
[ ! -d /usr/local/share/ca-certificates ] || { mkdir -p "$root/usr/local/share"; cp -a /usr/local/share/ca-certificates "$root/usr/local/share/"; }
printf '#!/bin/sh\\nexit 101\\n' >"$root/usr/sbin/policy-rc.d"; chmod 755 "$root/usr/sbin/policy-rc.d"
unshare --mount --pid --fork --mount-proc="$root/proc" chroot "$root" sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@" && apt-get clean' sh "$@"
rm -rf "$root/etc/apt"; mv "$root/etc/apt.own" "$root/etc/apt"
rm -rf "$root/usr/sbin/policy-rc.d" "$root/etc/resolv.conf" "$root/etc/apt/sources.list" "$root/usr/local/share/ca-certificates" "$root"/var/lib/apt/lists/* "$root"/usr/share/doc/* "$root"/usr/share/man/* "$root"/var/log/*.log "$root"/var/cache/debconf/*-old
tar -C "$root" -c -f "$root.tar" .
`;

/** Makes the archive unless it is there (some minutes, most of it the mirror's). */
export async function prepareBaseArchive(workshop: Workshop): Promise<string> {
  const { release, mirror } = debianSource();
  const archive = baseArchive(workshop.cache, release);
  if (existsSync(archive)) return archive;
  const packages = basePackages();
  workshop.note(`making a Debian ${release} with ${packages.join(', ')} by debootstrap (minutes, the first time)`);
  const folder = await workshop.scratch();
  const script = join(folder, 'make.sh');
  await Promise.all([mkdir(join(folder, 'root')), writeFile(script, SCRIPT)]);
  await workshop.run('/bin/sh', [script, join(folder, 'root'), release, mirror, ...packages], { env: { ...keptEnvironment(), DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' } });
  await workshop.publish(join(folder, 'root.tar'), archive);
  return archive;
}

/** What apt and debootstrap may need to reach a mirror. */
function keptEnvironment(): Record<string, string> {
  const names = ['PATH', 'HOME', 'http_proxy', 'https_proxy', 'no_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
}

