/**
 * What may be taken from a plan that fails, from the boldest cut to the mildest, one thing at a time: faults, how often a fault strikes, processes, length, rate,
 * stock. Pure.
 */
import type { ExperimentPlan } from '../../facts/experiment-plan.js';

export interface SmallerPlan {
  /** What was taken, for a reader. */
  readonly what: string;
  readonly plan: ExperimentPlan;
}

/** Options that say how much of a fault there is; others (a step, a time) say what it is. */
const COUNTS_OF_FAULTS: ReadonlySet<string> = new Set(['times', 'n', 'lose', 'count']);

/** Below these a run shows nothing: the generator's honesty needs some arrivals, and so does a judge. */
const LEAST = { rate: 20, durationMs: 1_000, stock: 1 } as const;

/** The dimensions in the order in which a person would try them: what makes the plan simpler first, then what makes it shorter. */
export function smallerPlans(plan: ExperimentPlan): readonly (readonly SmallerPlan[])[] {
  return [withoutFaults(plan), fewerStrikes(plan), fewerProcesses(plan, 'gateways'), fewerProcesses(plan, 'consumers'), shorter(plan), slower(plan), lessStock(plan)];
}

function withoutFaults(plan: ExperimentPlan): readonly SmallerPlan[] {
  const faults = plan.faults ?? [];
  if (faults.length === 0) return [];
  const none = { what: 'no faults', plan: { ...plan, faults: [] } };
  if (faults.length === 1) return [none];
  return [none, ...faults.map((fault, at) => ({ what: `without ${fault}`, plan: { ...plan, faults: faults.filter((_, other) => other !== at) } }))];
}

function fewerStrikes(plan: ExperimentPlan): readonly SmallerPlan[] {
  const faults = plan.faults ?? [];
  return faults.flatMap((fault, at) => {
    const [name = '', list = ''] = fault.split('@');
    const options = list === '' ? [] : list.split(',');
    return options.flatMap((option, place): SmallerPlan[] => {
      const [key = '', value = ''] = option.split('=');
      const count = Number(value);
      if (!COUNTS_OF_FAULTS.has(key) || !Number.isInteger(count)) return [];
      return fewer(count, 1).map((less) => {
        const text = `${name}@${options.map((each, other) => (other === place ? `${key}=${String(less)}` : each)).join(',')}`;
        return { what: text, plan: { ...plan, faults: faults.map((each, other) => (other === at ? text : each)) } };
      });
    });
  });
}

function fewerProcesses(plan: ExperimentPlan, key: 'gateways' | 'consumers'): readonly SmallerPlan[] {
  const count = Number(plan.options?.[key] ?? 1);
  return count > 1 ? [{ what: `${key} 1`, plan: withOption(plan, key, 1) }] : [];
}

function shorter(plan: ExperimentPlan): readonly SmallerPlan[] {
  const text = String(plan.options?.['duration'] ?? '');
  if (!/^[0-9]+ms$/.test(text)) return [];
  return fewer(Number.parseInt(text, 10), LEAST.durationMs).map((durationMs) => ({ what: `${String(durationMs)} ms long`, plan: withOption(plan, 'duration', `${String(durationMs)}ms`) }));
}

function slower(plan: ExperimentPlan): readonly SmallerPlan[] {
  return fewer(Number(plan.options?.['rate'] ?? 0), LEAST.rate).map((rate) => ({ what: `${String(rate)} arrivals a second`, plan: withOption(plan, 'rate', rate) }));
}

function lessStock(plan: ExperimentPlan): readonly SmallerPlan[] {
  return fewer(Number(plan.options?.['stock'] ?? 0), LEAST.stock).map((stock) => ({ what: `stock ${String(stock)}`, plan: withOption(plan, 'stock', stock) }));
}

function withOption(plan: ExperimentPlan, key: string, value: string | number): ExperimentPlan {
  return { ...plan, options: { ...plan.options, [key]: value } };
}

/** The least, a tenth, a half, three quarters: only what is really less, each once. */
function fewer(count: number, least: number): readonly number[] {
  const tries = [least, Math.round(count / 10), Math.round(count / 2), Math.round((count * 3) / 4)];
  return [...new Set(tries.filter((less) => less >= least && less < count))];
}
