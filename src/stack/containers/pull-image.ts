/** Images on the engine: looking one up, and pulling one with its progress told and its failure seen (testcontainers' own pull drops both). */
import { getAuthConfig } from 'testcontainers/build/container-runtime/auth/get-auth-config.js';
import { ImageName } from 'testcontainers';

import type { Docker, Engine } from './engine.js';
import { followProgress, type EngineProgress } from './follow-progress.js';

export interface FoundImage {
  readonly name: string;
  /** Content address on this engine. */
  readonly id: string;
  /** As the registry knows it; null for an image that never saw one. */
  readonly digest: string | null;
  readonly labels: Readonly<Record<string, string>>;
}

const TELL_EVERY_MS = 2_000;
/** A registry that is slow says so by lines of progress; one that says nothing for so long has been lost. */
const SILENCE_LIMIT_MS = 5 * 60_000;

export interface PullOptions {
  onNote(text: string): void;
  /** Ends the pull; it then rejects with an error that says so. */
  readonly signal?: AbortSignal | undefined;
  readonly silenceLimitMs?: number;
  /** For tests: how late it is. */
  readonly nowMs?: () => number;
}

/** The engine says null where an image has none; the types do not know. */
function labelsOf(config: { readonly Labels: Record<string, string> | null }): Record<string, string> {
  return config.Labels ?? {};
}

/** null when it is not there. */
export async function findImage(docker: Docker, name: string): Promise<FoundImage | null> {
  try {
    const { Id, RepoDigests, Config } = await docker.getImage(name).inspect();
    return { name, id: Id, digest: RepoDigests[0] ?? null, labels: labelsOf(Config) };
  } catch (error) {
    if ((error as { statusCode?: number }).statusCode === 404) return null;
    throw error;
  }
}

/** Resolves when the image is there. Rejects with an Error in words that name the image and, where the disk is full, the mend. */
export async function pullImage({ docker, indexServer }: Pick<Engine, 'docker' | 'indexServer'>, name: string, options: PullOptions): Promise<FoundImage> {
  const { signal, silenceLimitMs = SILENCE_LIMIT_MS, nowMs = Date.now } = options;
  options.onNote(`pulling ${name}`);
  const silence = new AbortController();
  const timer = setTimeout(() => {
    silence.abort(new Error(`the engine has told nothing of it for ${String(Math.ceil(silenceLimitMs / 1_000))} s`));
  }, silenceLimitMs);
  const ended = AbortSignal.any([silence.signal, ...(signal === undefined ? [] : [signal])]);
  try {
    const authconfig = await getAuthConfig(ImageName.fromString(name).registry ?? indexServer);
    const stream = await docker.pull(name, { abortSignal: ended, ...(authconfig === undefined ? {} : { authconfig }) });
    const tell = progressTeller(name, (text) => { options.onNote(text); }, nowMs);
    await followProgress(docker, stream, (line) => {
      timer.refresh();
      tell(line);
    });
  } catch (cause) {
    throw new Error(pullProblem(name, ended.aborted ? ended.reason : cause), { cause });
  } finally {
    clearTimeout(timer);
  }
  const there = await findImage(docker, name);
  if (there === null) throw new Error(`${name} was pulled and is not there`);
  return there;
}

function progressTeller(name: string, onNote: (text: string) => void, nowMs: () => number): (line: EngineProgress) => void {
  const layers = new Map<string, { current: number; total: number }>();
  let told = nowMs();
  return ({ id, status, progressDetail }) => {
    if (id !== undefined && status === 'Downloading') layers.set(id, { current: progressDetail?.current ?? 0, total: progressDetail?.total ?? 0 });
    const lookedMs = nowMs();
    if (lookedMs - told < TELL_EVERY_MS) return;
    told = lookedMs;
    onNote(`pulling ${name}: ${shareOf([...layers.values()])}`);
  };
}

function shareOf(layers: readonly { current: number; total: number }[]): string {
  const sum = (key: 'current' | 'total'): number => Math.round(layers.reduce((all, layer) => all + layer[key], 0) / 1e6);
  return `${String(sum('current'))} of ${String(sum('total'))} MB of ${String(layers.length)} layers`;
}

function pullProblem(name: string, cause: unknown): string {
  const why = cause instanceof Error ? cause.message : String(cause);
  if (/no space left on device/i.test(why)) return `${name} cannot be pulled, the disk of the engine is full: \`docker system prune\` makes room`;
  if (/not found|manifest unknown|does not exist|denied/i.test(why)) return `there is no image ${name}: ${why}`;
  return `${name} is not on the engine and cannot be pulled: ${why}`;
}
