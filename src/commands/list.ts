/** `list`: what there is to run, to break, to judge by and to take out. Everything comes from the registries. */
import { FAULTS } from '../faults/registry.js';
import { INVARIANTS } from '../invariants/registry.js';
import { MUTANTS } from '../mutants/registry.js';
import { SCENARIOS } from '../scenarios/registry.js';
import { ExitCode } from '../exit-codes.js';
import type { CommandIo } from './command-io.js';

interface Entry {
  readonly name: string;
  readonly text: string;
}

interface Catalogue {
  readonly scenarios: readonly (Entry & { readonly faults: readonly string[] })[];
  readonly faults: readonly (Entry & { readonly example: string })[];
  readonly invariants: readonly Entry[];
  readonly mutants: readonly (Entry & { readonly caughtBy: string; readonly showsUnder: string })[];
}

export function catalogue(): Catalogue {
  return {
    scenarios: SCENARIOS.map(({ name, claim, faults }) => ({ name, text: claim, faults })),
    faults: FAULTS.map(({ name, description, example }) => ({ name, text: description, example })),
    invariants: INVARIANTS.map(({ name, whatItMeans }) => ({ name, text: whatItMeans })),
    mutants: MUTANTS.map(({ name, description, caughtBy, showsUnder }) => ({ name, text: description, caughtBy, showsUnder: showsUnder.name })),
  };
}

function section(title: string, entries: readonly Entry[], below: (index: number) => readonly string[] = () => []): string[] {
  const width = Math.max(...entries.map((entry) => entry.name.length));
  const lines = entries.flatMap((entry, index) => [`  ${entry.name.padEnd(width)}  ${entry.text}`, ...below(index).map((line) => `  ${''.padEnd(width)}  ${line}`)]);
  return [title, ...lines, ''];
}

export function runList(options: { readonly json?: boolean }, io: CommandIo): number {
  const listed = catalogue();
  if (options.json === true) {
    io.stdout(`${JSON.stringify(listed, null, 2)}\n`);
    return ExitCode.green;
  }
  const { scenarios, faults, invariants, mutants } = listed;
  const mutantHint = (index: number): string[] => mutants.slice(index, index + 1).map(({ name, caughtBy, showsUnder }) => `seckill-lab run ${showsUnder} --mutant ${name}: caught by ${caughtBy}`);
  const lines = [
    ...section('scenarios  (seckill-lab run <name>)', scenarios, (index) => (scenarios[index]?.faults ?? []).map((fault) => `with ${fault}`)),
    ...section('faults  (--fault <name>@key=value,…)', faults, (index) => [`such as --fault ${faults[index]?.example ?? ''}`]),
    ...section('invariants', invariants),
    ...section('mutants  (one guard taken out)', mutants, mutantHint),
  ];
  io.stdout(`${lines.join('\n').trimEnd()}\n`);
  return ExitCode.green;
}
