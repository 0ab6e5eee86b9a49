/** `seckill-lab run <scenario>`: options → plan → experiment → exit code. */
import { join } from 'node:path';

import type { LabEventListener } from '../facts/lab-event.js';
import type { StackSource } from '../lab/bring-up-stack.js';
import { runExperiment } from '../lab/run-experiment.js';
import { faultProblems, rawOptionsOf, readPlanFile, runNamed } from '../lab/plan-file.js';
import { parseRunOptions, type RunOptions } from '../lab/run-options.js';
import { planRun } from '../lab/run-plan.js';
import { edgeFormProblems, transportProblems } from '../lab/transport-limits.js';
import { MUTANTS } from '../mutants/registry.js';
import { createRunFolder } from '../report/run-folder.js';
import { SCENARIOS } from '../scenarios/registry.js';
import type { Scenario } from '../scenarios/scenario.js';
import type { StackRequest } from '../stack/start-stack.js';
import { readStackFile, writeStackFile } from '../stack/stack-file.js';
import { finalReport } from '../tui/final-report.js';
import { startFace } from '../tui/select-face.js';
import type { CommandIo } from './command-io.js';
import { listenForAbort } from './listen-for-abort.js';
import { parseRoleHosting, parseStackRequest } from './stack-options.js';

interface Request {
  readonly scenario: Scenario;
  readonly options: RunOptions;
  readonly mutant: string | null;
}

/** Everything wrong with the command line, reported at once. */
async function checkedRequest(named: string | undefined, onCommandLine: Readonly<Record<string, unknown>>): Promise<Request> {
  const problems: string[] = [];
  const planFile = onCommandLine['plan'];
  const plan = typeof planFile === 'string' ? await readPlanFile(planFile) : null;
  const raw: Readonly<Record<string, unknown>> = plan === null ? onCommandLine : { ...rawOptionsOf(plan), ...(plan.mutant === undefined ? {} : { mutant: plan.mutant }), ...onCommandLine };
  if (plan !== null && named !== undefined && named !== plan.scenario) problems.push(`the plan is for ${plan.scenario}, not for ${named}`);
  const scenarioName = named ?? plan?.scenario ?? '';
  const found = runNamed(scenarioName);
  const scenario = found === null || plan?.faults === undefined ? found : { ...found, faults: plan.faults };
  if (scenarioName === '') problems.push(`no scenario is named; there are ${SCENARIOS.map((known) => known.name).join(', ')}`);
  else if (scenario === null) problems.push(`there is no scenario ${JSON.stringify(scenarioName)}; there are ${SCENARIOS.map((known) => known.name).join(', ')}`);
  const mutant = typeof raw['mutant'] === 'string' ? raw['mutant'] : null;
  if (mutant !== null && !MUTANTS.some((known) => known.name === mutant)) {
    problems.push(`there is no mutant ${JSON.stringify(mutant)}; there are ${MUTANTS.map((known) => known.name).join(', ')}`);
  }
  const added = Array.isArray(raw['fault']) ? raw['fault'].map(String) : [];
  // Malformed ones are told by the options; what is left to say is which cannot run together.
  const wellFormed = added.filter((text) => faultProblems([text]).length === 0);
  problems.push(...faultProblems([...(scenario?.faults ?? []), ...wellFormed]));
  const transport = raw['transport'] === 'http' || raw['transport'] === 'edge' || raw['transport'] === 'inproc' ? raw['transport'] : scenario?.load.transport;
  if (transport !== undefined) problems.push(...transportProblems(transport, [...(scenario?.faults ?? []), ...wellFormed]));
  const form = raw['edgeForm'] === 'json' || raw['edgeForm'] === 'binary' ? raw['edgeForm'] : undefined;
  if (transport !== undefined && scenario !== null) problems.push(...edgeFormProblems(transport, form, scenario.load));
  const options = parseRunOptions(raw, problems);
  if (scenario === null) throw new Error('an unknown scenario was not reported');
  return { scenario, options, mutant };
}

async function stackSource(raw: Readonly<Record<string, unknown>>, request: StackRequest, reportDirectory: string, io: CommandIo): Promise<StackSource> {
  const file = raw['stackFile'];
  if (typeof file === 'string') return { kind: 'described', description: await readStackFile(file) };
  if (raw['keepRunning'] !== true) return { kind: 'start', request, onKept: null };
  return {
    kind: 'start',
    request,
    async onKept(stack) {
      const kept = join(reportDirectory, 'stack.json');
      await writeStackFile(kept, stack);
      const { redisPrimary, postgres, kafka } = stack.direct;
      io.stderr(
        `the servers keep running: redis ${redisPrimary.host}:${String(redisPrimary.port)}, postgres ${postgres.host}:${String(postgres.port)} (user ${postgres.user}, password in the file), ` +
          `kafka ${kafka.host}:${String(kafka.port)}\n  run against them: seckill-lab run … --stack-file ${kept}\n  end them: seckill-lab down --stack-file ${kept}\n`,
      );
    },
  };
}

export async function runRun(scenarioName: string | undefined, raw: Readonly<Record<string, unknown>>, argv: readonly string[], io: CommandIo): Promise<number> {
  const { scenario, options, mutant } = await checkedRequest(scenarioName, raw);
  const request = parseStackRequest(raw);
  const roles = parseRoleHosting(raw, request);
  const plan = planRun(scenario, options, mutant);
  const wantsJson = raw['json'] === true;
  const store = await createRunFolder(typeof raw['reportDir'] === 'string' ? raw['reportDir'] : 'reports', scenario.name, plan.startedAt, plan.seed);
  const abort = new AbortController();
  const stopListening = listenForAbort(abort);
  io.stderr(`${scenario.name}: ${scenario.claim}\nseed ${String(plan.seed)}, ${String(plan.load.ratePerSecond)}/s for ${String(plan.load.durationMs / 1000)} s, stock ${String(plan.stock)}, report ${store.directory}\n`);
  const face = await startFace({ json: wantsJson, plain: raw['plain'] === true }, scenario.name, process.stderr, process.env);
  const emit: LabEventListener = (event) => {
    store.appendEvent(event);
    face.listen(event);
  };
  try {
    const source = await stackSource(raw, request, store.directory, io);
    const verdict = await runExperiment(plan, { store, emit, abort, stackSource: source, argv, options, roles });
    face.stop();
    io.stdout(wantsJson ? `${JSON.stringify(verdict, null, 2)}\n` : finalReport(verdict));
    return verdict.exitCode;
  } finally {
    face.stop();
    stopListening();
  }
}
