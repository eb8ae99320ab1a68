"""Text for the terminal, made of ledger rows alone."""
def table(rows):
    return "".join(f"{r['verdict']:15} {r['claim']:40} {r['reason']}\n" for r in rows if r["kind"]=="claim")
def claim_list(rows):
    return "".join(f"{i:40} {','.join(l):8} {s}\n" for i,l,s in rows)
