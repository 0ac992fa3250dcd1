"""Writers: evidence within budget, write, review, fix, salvage, delivery."""
