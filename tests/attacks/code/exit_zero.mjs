process.exit(0);
async function attack() {}
