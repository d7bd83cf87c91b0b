import { expect, test } from 'vitest';
import type { ProviderConfig } from '../../src/config/providers/provider-config.ts';
import type { Model } from '../../src/model/model.ts';
import { ModelPool } from '../../src/model/providers/model-pool.ts';
import { providerAt } from './provider-server.ts';

const PROVIDERS_KEPT = 16;
const silent: Model['stream'] = async function* () {};
const scripted = (script: string): ProviderConfig => providerAt(0, { wireApi: 'scripted', script });

/** A pool that makes a model at each call, and how many it has made. */
function pool(report?: () => string | null) {
  const made: Model[] = [];
  const models = new ModelPool(null, async () => {
    const model: Model = report === undefined ? { stream: silent } : { stream: silent, report };
    made.push(model);
    return model;
  });
  return { models, made };
}

test('a provider keeps its model, also for those who ask at once', async () => {
  const { models, made } = pool();
  const [one, two] = await Promise.all([models.get(providerAt(1)), models.get(providerAt(1))]);
  expect(one).toBe(two);
  expect(await models.get(providerAt(2))).not.toBe(one);
  expect(made).toHaveLength(2);
});

test('of many providers the one that was used longest ago is forgotten, but none with a script', async () => {
  const { models, made } = pool();
  await models.get(scripted('/a'));
  for (let port = 1; port <= PROVIDERS_KEPT; port++) await models.get(providerAt(port));
  await models.get(providerAt(1));
  await models.get(providerAt(PROVIDERS_KEPT + 1));
  const before = made.length;
  await models.get(scripted('/a'));
  await models.get(providerAt(1));
  expect(made).toHaveLength(before);
  await models.get(providerAt(2));
  expect(made).toHaveLength(before + 1);
});

test('a model that could not be made is tried again', async () => {
  let tries = 0;
  const models = new ModelPool(null, async () => {
    tries += 1;
    if (tries === 1) throw new Error('no');
    return { stream: silent };
  });
  await expect(models.get(scripted('/a'))).rejects.toThrow('no');
  await models.get(scripted('/a'));
  expect(tries).toBe(2);
});

test('the reports are those of the models in use, or of the one that stands for all', async () => {
  const { models } = pool(() => 'wrong');
  expect(models.reports()).toEqual([]);
  await models.get(scripted('/a'));
  await models.get(scripted('/b'));
  expect(models.reports()).toEqual(['wrong', 'wrong']);
  const given: Model = { stream: silent, report: () => 'unused' };
  const one = new ModelPool(given, async () => ({ stream: silent }));
  expect(one.reports()).toEqual(['unused']);
  expect(await one.get(providerAt(1))).toBe(given);
  expect(new ModelPool({ stream: silent }, async () => given).reports()).toEqual([]);
});
