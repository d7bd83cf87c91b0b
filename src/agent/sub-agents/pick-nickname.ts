/** The names that agents get by default. */
const NICKNAMES = `Acorn Alder Amber Aspen Basil Birch Bramble Brook Cedar Cinder Clover Comet Coral Cypress Dahlia Delta Ember Fennel Fern Finch
Flint Garnet Ginger Granite Hazel Heron Holly Indigo Iris Ivory Jasper Juniper Kelp Kestrel Lark Laurel Linden Lotus Maple Marble Marlin
Meadow Mica Mint Moss Nettle Nutmeg Oak Ochre Olive Onyx Opal Orchid Osprey Otter Pebble Pepper Petrel Pine Plover Poppy Quartz Quince Raven
Reed Robin Rowan Ruby Saffron Sage Sorrel Sparrow Spruce Starling Sumac Swift Tansy Teal Thistle Thyme Topaz Tulip Umber Violet Walnut Willow
Wren Yarrow Zephyr Zinnia`;

/** Returns the first name that is not taken; once all are, a name with a number. */
export function pickNickname(candidates: readonly string[], taken: ReadonlySet<string>): string {
  const names = candidates.length > 0 ? candidates : NICKNAMES.split(/\s+/);
  for (let round = 1; ; round++) {
    const free = names
      .map((name) => (round === 1 ? name : `${name} ${round}`))
      .find((name) => !taken.has(name));
    if (free !== undefined) return free;
  }
}
