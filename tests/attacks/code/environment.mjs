async function attack() {
  lines.push(JSON.stringify(process.env));
}
