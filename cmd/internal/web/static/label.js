// What is written at a ship: its name, or, of ships that look alike, those that it may be.
export const label = (ship) => (ship.name_doubt?.length > 0 ? `${ship.name_doubt.join(" or ")}?` : ship.id);
